// A start that fails for a reason that the operator can fix: reported in one line, without a stack.

export class StartFault extends Error {
  override readonly name: string = 'StartFault';
}

const LIMITS: Readonly<Record<string, string>> = {
  EMFILE: 'too few file descriptors for this process: raise `ulimit -n` (LimitNOFILE= under systemd)',
  ENFILE: 'this machine has no file descriptor left (fs.file-max)',
  ENOMEM:
    'the system gives no more memory: raise `ulimit -v` (MemoryMax= under systemd), or lower IMAGE_BYTES',
  ERR_WORKER_OUT_OF_MEMORY:
    'a thread has no memory left on its heap: raise it with NODE_OPTIONS=--max-old-space-size=MEGABYTES',
  ERR_WORKER_INIT_FAILED:
    'a thread could not be started: raise `ulimit -n`, `ulimit -u` or `ulimit -v`, whichever is low',
};

/** Returns one line that names the limit of the machine that caused the error, or undefined if none did. */
export function explainLimit(error: unknown): string | undefined {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (typeof code === 'string' && LIMITS[code] !== undefined) return LIMITS[code];
  return /Array buffer allocation failed/.test(message ?? '') ? LIMITS.ENOMEM : undefined;
}
