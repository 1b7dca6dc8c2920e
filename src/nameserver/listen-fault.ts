// Says why the process cannot listen on an address, in words that name the setting. Undefined for other errors.

export function explainListenFault(setting: string, error: unknown): string | undefined {
  const { code, syscall, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (address === undefined || (syscall !== 'bind' && syscall !== 'listen')) return undefined;
  const place = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return `${setting}: ${place} is in use by another program; stop that one, or set ${setting} to another address`;
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
      return `${setting}: this machine does not have the address of ${place}`;
    case 'EACCES':
    case 'EPERM':
      return `${setting}: ${place} may not be used by this user (ports below 1024 are the system's)`;
    default:
      return `${setting}: cannot listen on ${place} (${code})`;
  }
}
