// A fault that comes from a limit of the machine and not from a bug: one line that says which limit. Undefined: none.

const LINES: Readonly<Record<string, string>> = {
  EMFILE: 'too few file descriptors for this process: raise `ulimit -n` (LimitNOFILE= under systemd)',
  ENFILE: 'this machine has no file descriptor left (fs.file-max)',
  ENOMEM:
    'the system gives no more memory: raise `ulimit -v` (MemoryMax= under systemd), or lower IMAGE_BYTES',
  ERR_WORKER_OUT_OF_MEMORY:
    'a thread has no memory left on its heap: raise it with NODE_OPTIONS=--max-old-space-size=MEGABYTES',
  ERR_WORKER_INIT_FAILED:
    'a thread could not be started: raise `ulimit -n`, `ulimit -u` or `ulimit -v`, whichever is low',
};

export function explainLimit(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code === 'string' && LINES[code] !== undefined) return LINES[code];
  return /Array buffer allocation failed/.test(message ?? '') ? LINES.ENOMEM : undefined;
}
