// Describes socket errors for people who read why a check had no result.

const MEANINGS = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['EPIPE', 'connection reset'],
  ['ENETUNREACH', 'network is unreachable'],
  ['EHOSTUNREACH', 'host is unreachable'],
  ['ETIMEDOUT', 'no connection in time'],
  ['EADDRNOTAVAIL', 'this host has no address for that network'],
  ['EAFNOSUPPORT', 'this host does not have that address family'],
  ['EPERM', 'forbidden on this host'],
  ['EACCES', 'forbidden on this host'],
  ['EMFILE', 'this process has too many open files'],
  ['ENFILE', 'this host has too many open files'],
]);

export function socketErrorText(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  const meaning = code === undefined ? undefined : MEANINGS.get(code);
  return meaning === undefined ? error.message : `${meaning} (${code})`;
}

/** True if the host replied that no program listens at the port. */
export function isRefused(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
}
