# SPDX-License-Identifier: ISC
"""An S3 server for tests: OpenStack Swift with its s3api, all of its servers in this one process on loopback.

    s3_server.py DIRECTORY BUCKET

Everything lies below DIRECTORY, which must be empty and on a file system with extended attributes.  Prints the port once
it answers and has the bucket.  Requests must be signed
by test:tester with the secret testing.  Ends when its standard input does.
"""

import array
import logging
import os
import sys

import eventlet

eventlet.monkey_patch()

from eventlet import tpool, wsgi  # noqa: E402
from swift.common import utils  # noqa: E402
from swift.common.ring.ring import RingData  # noqa: E402
from swift.common.swob import Request  # noqa: E402

TOP = os.path.abspath(sys.argv[1])


def write(name, text):
    with open(os.path.join(TOP, name), "w") as f:
        f.write(text)


write("swift.conf", "[swift-hash]\nswift_hash_path_suffix = test\nswift_hash_path_prefix = test\n"
      "[storage-policy:0]\nname = gold\ndefault = yes\n")
utils.SWIFT_CONF_FILE = os.path.join(TOP, "swift.conf")
utils.validate_hash_conf()

from swift.common.wsgi import loadapp  # noqa: E402
from swift.common.storage_policy import reload_storage_policies  # noqa: E402

reload_storage_policies()
os.makedirs(os.path.join(TOP, "devices", "d1"))

BACKEND = """
[DEFAULT]
devices = {top}/devices
mount_check = false
swift_dir = {top}
fallocate_reserve = 0
disable_fallocate = true
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
replication_server = false
"""

PROXY = """
[DEFAULT]
swift_dir = {top}
[pipeline:main]
pipeline = catch_errors s3api tempauth bulk slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
allow_multipart_uploads = true
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""


class Quiet:
    def write(self, *_):
        pass

    def flush(self):
        pass


class Cache:
    """Stands in for memcached."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_):
        return self.values.get(key)

    def set(self, key, value, **_):
        self.values[key] = value

    def delete(self, key, **_):
        self.values.pop(key, None)


cache = Cache()


def with_cache(app):
    def call(environ, start_response):
        environ["swift.cache"] = cache
        return app(environ, start_response)
    return call


def serve(kind, text, sock):
    name = kind + "-server.conf"
    write(name, text.format(top=TOP, kind=kind))
    app = with_cache(loadapp(os.path.join(TOP, name)))
    eventlet.spawn(wsgi.server, sock, app, log=Quiet(), log_output=False, keepalive=True)
    return app


def ring(name, port):
    dev = {"id": 0, "region": 1, "zone": 1, "weight": 1.0, "ip": "127.0.0.1", "port": port,
           "replication_ip": "127.0.0.1", "replication_port": port, "device": "d1", "meta": ""}
    RingData([array.array("H", [0])], [dev], 32).save(os.path.join(TOP, name + ".ring.gz"))


kinds = ("account", "container", "object")
socks = {kind: eventlet.listen(("127.0.0.1", 0)) for kind in kinds}
for kind in kinds:
    ring(kind, socks[kind].getsockname()[1])
for kind in kinds:
    serve(kind, BACKEND, socks[kind])
front = eventlet.listen(("127.0.0.1", 0))
proxy = serve("proxy", PROXY, front)
made = Request.blank("/v1/AUTH_test/" + sys.argv[2], environ={
    "REQUEST_METHOD": "PUT", "swift.authorize_override": True, "swift.authorize": lambda _: None}).get_response(proxy)
if made.status_int not in (201, 202):
    sys.exit("the bucket could not be made: " + made.status)
print(front.getsockname()[1], flush=True)


# Errors inside the servers go to standard error.
complaints = logging.StreamHandler(sys.stderr)
complaints.setLevel(logging.ERROR)
for logger in list(logging.root.manager.loggerDict.values()):
    if isinstance(logger, logging.Logger) and logger.handlers:
        logger.addHandler(complaints)

# Reads in a real thread: a patched read would hold up everything.
tpool.execute(os.read, 0, 1)
os._exit(0)
