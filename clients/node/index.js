// Runs commands behind the walls of Palisade: JSON-RPC, one message a line, to `palisade serve`.
import { spawn } from "node:child_process"
import { connect } from "node:net"
import { resolve } from "node:path"

/** Nothing could be decided or confined. Nothing was run. */
export class PalisadeError extends Error {
  constructor(message, code = null, data = null) {
    super(message)
    this.name = "PalisadeError"
    this.code = code
    this.data = data
  }
}

class Wire {
  constructor(binary, socket) {
    this.next = 1
    this.waiting = new Map()
    this.closed = null
    this.rest = []
    if (socket) {
      this.stream = connect(socket)
      this.out = this.in = this.stream
    } else {
      this.process = spawn(binary, ["serve", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] })
      this.out = this.process.stdin
      this.in = this.process.stdout
      this.process.on("error", (error) => this.end(`cannot start \`${binary}\`: ${error.message}`))
    }
    this.in.on("data", (data) => this.read(data))
    this.in.on("close", () => this.end("the server is gone"))
    for (const stream of [this.in, this.out]) stream.on("error", (error) => this.end(error.message))
  }

  ask(method, params, listener) {
    const id = this.next++
    const answer = new Promise((done, failed) => {
      if (this.closed) return failed(this.closed)
      this.waiting.set(id, { done, failed, listener })
      this.out.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n")
    })
    return { id, answer }
  }

  read(data) {
    let from = 0
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, from)) {
      this.rest.push(data.subarray(from, end))
      const line = Buffer.concat(this.rest).toString("utf8")
      this.rest = []
      from = end + 1
      if (line.trim()) this.hear(JSON.parse(line))
    }
    this.rest.push(data.subarray(from))
  }

  hear(message) {
    if (message.method === "output") return this.waiting.get(message.params.run)?.listener?.(message.params)
    const asked = this.waiting.get(message.id)
    if (!asked) return
    this.waiting.delete(message.id)
    const { error } = message
    if (error) asked.failed(new PalisadeError(error.message, error.data?.code ?? null, error.data ?? null))
    else asked.done(message.result)
  }

  end(why) {
    this.closed ??= new PalisadeError(why, "gone")
    for (const { failed } of this.waiting.values()) failed(this.closed)
    this.waiting.clear()
  }

  close() {
    this.process?.kill()
    this.stream?.destroy()
    this.end("the connection is closed")
  }
}

const bytes = (raw, name) =>
  raw[`${name}_base64`] === undefined ? Buffer.from(raw[name] ?? "") : Buffer.from(raw[`${name}_base64`], "base64")

const outcome = (raw) => ({
  exitCode: raw.exit_code,
  stdout: bytes(raw, "stdout").toString("utf8"),
  stderr: bytes(raw, "stderr").toString("utf8"),
  stdoutBytes: bytes(raw, "stdout"),
  stderrBytes: bytes(raw, "stderr"),
  truncated: raw.truncated,
  timedOut: raw.timed_out,
  denied: raw.denied,
  reason: raw.reason,
  durationMs: raw.duration_ms,
  argv: raw.argv,
  ok: raw.ok,
  raw,
})

const verdict = (raw) => ({
  verdict: raw.verdict,
  allowed: raw.verdict === "allow",
  reason: (raw.reasons ?? raw.findings ?? [])[0]?.message ?? null,
  raw,
})

const command = (argv) => (typeof argv === "string" ? { shell: argv } : { argv: [...argv] })
const said = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))

export class Sandbox {
  #wire
  #project

  constructor(options = {}) {
    const { projectRoot, maxOutputBytes, timeoutSeconds, denylist, interpreterBlock } = options
    const root = projectRoot === undefined ? undefined : resolve(projectRoot)
    const config = said({
      max_output_bytes: maxOutputBytes,
      timeout_seconds: timeoutSeconds,
      denylist: denylist && [...denylist],
      interpreter_block: interpreterBlock && [...interpreterBlock],
    })
    const { policies, preset, profile, agent, task } = options
    this.#project = said({ policies, preset, profile, agent, task })
    // The names of the sandbox runner bring its preset with them.
    if (Object.keys(config).length) this.#project.config = said({ ...config, project_root: root })
    else if (root) this.#project.root = root
    this.#wire = new Wire(options.binary ?? "palisade", options.socket)
  }

  start(argv, options = {}) {
    const { cwd, env, tool, timeoutSeconds, stdin, stdinPipe, onOutput } = options
    const params = said({ ...command(argv), cwd, env, tool, timeout_seconds: timeoutSeconds, project: this.#project })
    if (stdin !== undefined) params.stdin_base64 = Buffer.from(stdin).toString("base64")
    if (stdinPipe) params.stdin_pipe = true
    if (onOutput) params.stream = true
    const tell = onOutput && ((event) => onOutput(event.stream, Buffer.from(event.text ?? event.base64, event.text === undefined ? "base64" : "utf8")))
    const wire = this.#wire
    const { id, answer } = wire.ask("run", params, tell)
    const done = answer.then(outcome)
    done.catch(() => {})
    const feed = (more) => wire.ask("stdin", { run: id, ...more }).answer.then(() => undefined)
    return {
      outcome: done,
      cancel: () => wire.ask("cancel", { run: id }).answer.then((it) => it.cancelled),
      write: (data) => feed({ base64: Buffer.from(data).toString("base64") }),
      closeStdin: () => feed({ close: true }),
    }
  }

  async run(argv, options = {}) {
    const { signal, ...rest } = options
    signal?.throwIfAborted()
    const run = this.start(argv, rest)
    const stop = () => run.cancel().catch(() => {})
    signal?.addEventListener("abort", stop, { once: true })
    try {
      return await run.outcome
    } finally {
      signal?.removeEventListener("abort", stop)
    }
  }

  #ask(method, params = {}) {
    return this.#wire.ask(method, { ...params, project: this.#project }).answer
  }

  async check(argv) {
    return verdict(await this.#ask("check", command(argv)))
  }

  async checkTool(tool, args) {
    return verdict(await this.#ask("check", { tool, arguments: args }))
  }

  policy() { return this.#ask("policy") }
  trust() { return this.#ask("trust") }
  async setEnabled(enabled) { return (await this.#ask("set_enabled", { enabled })).state }
  async setDefaultProfile(profile) { return (await this.#ask("set_default_profile", { profile })).shadowed_by }
  async profileHealthError(profile) { return (await this.#ask("profile_health_error", { profile })).error }
  async version() { return (await this.#wire.ask("version", {}).answer).version }
  close() { this.#wire.close() }
}
