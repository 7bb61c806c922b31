-- SPDX-License-Identifier: ISC
-- Turns for wrk: half of them on threads of their own, half on THREADS old ones that grow.
local threads = tonumber(os.getenv("SOAK_THREADS") or "1000")
local seed = tonumber(os.getenv("SOAK_SEED") or "1")
local count = 0

function init()
	wrk.method = "POST"
	wrk.path = "/v1/graph/invoke"
	wrk.headers["Content-Type"] = "application/json"
	math.randomseed(seed)
end

function request()
	count = count + 1
	local config = ""
	if count % 2 == 0 then
		config = string.format(',"config":{"thread_id":"old-%d"}', math.random(threads))
	end
	return wrk.format(nil, nil, nil, string.format(
		'{"messages":[{"role":"user","content":"turn %d of seed %d"}]%s}', count, seed, config))
end

function response(status)
	if status ~= 200 then
		print("status " .. status)
	end
end
