// SPDX-License-Identifier: ISC
// webhook_verify.mjs PEERS LOG: has a library that others wrote verify each request of a receiver's log at the time
// when it came, and checks that the library takes none that is changed or late.  Prints how many are good; the secret
// is WEBHOOK_SECRET.
import {createRequire} from "node:module";
import {readFileSync} from "node:fs";

const [peers, log] = process.argv.slice(2);
const {Webhook} = createRequire(`${peers}/package.json`)("standardwebhooks");
const webhook = new Webhook(process.env.WEBHOOK_SECRET);

const refuses = (what, body, headers) => {
	try {
		webhook.verify(body, headers);
	} catch {
		return;
	}
	throw new Error(`${what} is taken`);
};

let good = 0;
for (const line of readFileSync(log, "utf8").trim().split("\n")) {
	const {headers, body} = JSON.parse(line);
	const seconds = Number(headers["webhook-timestamp"]);
	Date.now = () => seconds * 1000; // as the service's clock was stepped
	if (webhook.verify(body, headers).type !== JSON.parse(body).type)
		throw new Error("another event");
	refuses("a changed body", body.replace("run.", "ran."), headers);
	refuses("another id", body, {...headers, "webhook-id": `${headers["webhook-id"]}1`});
	refuses("another time", body, {...headers, "webhook-timestamp": `${seconds + 1}`});
	Date.now = () => (seconds + 3600) * 1000;
	refuses("a late one", body, headers);
	good++;
}
console.log(good);
