// A start error that the operator can fix, reported in one line without a stack.

export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}

const LIMITS: Readonly<Record<string, string>> = {
  EMFILE: 'too few file descriptors for this process: raise `ulimit -n` (LimitNOFILE= under systemd)',
  ENFILE: 'this machine has no file descriptor left (fs.file-max)',
  ENOMEM:
    'the system refused to provide more memory: raise `ulimit -v` (MemoryMax= under systemd), or lower IMAGE_BYTES',
  ERR_WORKER_OUT_OF_MEMORY:
    'the heap of a thread is full: raise the limit with NODE_OPTIONS=--max-old-space-size=MEGABYTES',
  ERR_WORKER_INIT_FAILED:
    'a thread could not be started: raise `ulimit -n`, `ulimit -u` or `ulimit -v`, depending on which is low',
};

/** Returns one line that names the limit of the machine that caused the error, or undefined if none did. */
export function explainLimit(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code === 'string' && LIMITS[code] !== undefined) return LIMITS[code];
  return /Array buffer allocation failed/.test(message ?? '') ? LIMITS.ENOMEM : undefined;
}
