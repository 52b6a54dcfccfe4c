/** Nothing could be decided or confined. Nothing was run. */
export class PalisadeError extends Error {
  code: string | null
  data: unknown
}

export interface Options {
  projectRoot?: string
  maxOutputBytes?: number
  timeoutSeconds?: number
  denylist?: Iterable<string>
  interpreterBlock?: Iterable<string>
  policies?: string[]
  preset?: string
  profile?: string
  agent?: string
  task?: string
  /** The program; `palisade` if nothing is said. */
  binary?: string
  /** The socket of a server that runs, instead of one of our own. */
  socket?: string
}

export interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  tool?: string
  timeoutSeconds?: number
  stdin?: string | Uint8Array
}

export interface StartOptions extends RunOptions {
  stdinPipe?: boolean
  /** Output goes here, and not into the outcome. */
  onOutput?: (stream: "stdout" | "stderr", data: Buffer) => void
}

/** What became of a call: it was refused, or it ran and ended in some way. */
export interface Outcome {
  exitCode: number
  stdout: string
  stderr: string
  stdoutBytes: Buffer
  stderrBytes: Buffer
  truncated: boolean
  timedOut: boolean
  denied: boolean
  reason: string | null
  durationMs: number
  argv: string[]
  ok: boolean
  /** Everything that the server told, as `schema/outcome.json` says. */
  raw: Record<string, unknown>
}

export interface Verdict {
  verdict: "allow" | "ask" | "deny"
  allowed: boolean
  reason: string | null
  raw: Record<string, unknown>
}

/** A command that goes on. */
export interface Run {
  outcome: Promise<Outcome>
  /** Ends the command and everything it started; false if it had ended. */
  cancel(): Promise<boolean>
  write(data: string | Uint8Array): Promise<void>
  closeStdin(): Promise<void>
}

/** A project, and commands that run in it. A text is shell text, a list a program with its arguments. */
export class Sandbox {
  constructor(options?: Options)
  run(argv: string | readonly string[], options?: StartOptions & { signal?: AbortSignal }): Promise<Outcome>
  start(argv: string | readonly string[], options?: StartOptions): Run
  check(argv: string | readonly string[]): Promise<Verdict>
  checkTool(tool: string, args: unknown): Promise<Verdict>
  policy(): Promise<Record<string, unknown>>
  trust(): Promise<Record<string, unknown>>
  setEnabled(enabled: boolean | null): Promise<string>
  setDefaultProfile(profile: string): Promise<string | null>
  profileHealthError(profile: string): Promise<string | null>
  version(): Promise<string>
  close(): void
}
