// The client against the real binary: PALISADE names it.
import assert from "node:assert/strict"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"

import { PalisadeError, Sandbox } from "../index.js"

const binary = process.env.PALISADE ?? "palisade"
const projectRoot = realpathSync(mkdtempSync(join(tmpdir(), "palisade-node-")))
writeFileSync(join(projectRoot, "Cargo.toml"), "")
const sandbox = new Sandbox({ projectRoot, binary })
after(() => {
  sandbox.close()
  rmSync(projectRoot, { recursive: true })
})

test("a command runs and a refusal is an outcome", async () => {
  const ran = await sandbox.run(["echo", "hi"])
  assert.deepEqual([ran.exitCode, ran.stdout, ran.ok], [0, "hi\n", true])
  const refused = await sandbox.run(["rm", "-rf", "/etc"])
  assert.deepEqual([refused.exitCode, refused.denied], [-100, true])
  assert.match(refused.reason, /outside/)
  assert.equal((await sandbox.run("exit 7")).exitCode, 7)
  const echoed = await sandbox.run(["cat"], { stdin: Buffer.from([255, 0, 97]) })
  assert.deepEqual([...echoed.stdoutBytes], [255, 0, 97])
})

test("the five names of the runner hold", async () => {
  const runner = new Sandbox({ projectRoot, binary, maxOutputBytes: 64, timeoutSeconds: 0.5, denylist: ["cp"], interpreterBlock: ["python3"] })
  assert.equal((await runner.run(["cp", "a", "b"])).denied, true)
  assert.equal((await runner.run(["python3", "-c", "1"])).denied, true)
  assert.equal((await runner.run(["seq", "1000"])).truncated, true)
  assert.equal((await runner.run(["sleep", "5"])).exitCode, -101)
  runner.close()
})

test("output comes as it is written, input goes in, and a run can be cancelled", async () => {
  const heard = []
  const run = sandbox.start(["cat"], { stdinPipe: true, onOutput: (_, data) => heard.push(data) })
  await run.write("é")
  await run.closeStdin()
  assert.equal((await run.outcome).exitCode, 0)
  assert.equal(Buffer.concat(heard).toString(), "é")
  const signal = AbortSignal.timeout(300)
  assert.equal((await sandbox.run(["sleep", "600"], { signal })).raw.signal, 9)
})

test("many run at once without loss", async () => {
  const all = await Promise.all(Array.from({ length: 40 }, (_, n) => sandbox.run(["echo", String(n)])))
  assert.deepEqual(all.map((it) => it.stdout.trim()), Array.from({ length: 40 }, (_, n) => String(n)))
})

test("deciding runs nothing, and what cannot be is an error", async () => {
  assert.equal((await sandbox.check(["ls"])).allowed, true)
  assert.equal((await sandbox.checkTool("write_file", { path: "/etc/x", content: "" })).verdict, "deny")
  const nowhere = new Sandbox({ projectRoot: join(projectRoot, "nowhere"), binary })
  await assert.rejects(nowhere.run(["ls"]), PalisadeError)
  nowhere.close()
  const missing = new Sandbox({ binary: "/nowhere/palisade" })
  await assert.rejects(missing.run(["ls"]), PalisadeError)
})
