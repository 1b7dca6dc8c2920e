// Explains why a process cannot listen on an address, with the name of the setting.

import { type ListenAddress, printListenAddress } from './listen-address.ts';
import { StartFault } from './start-fault.ts';

/** Returns the error to throw if listening on the address of `setting` failed: a StartFault, or `error` for other problems. */
export function listenFault(setting: string, error: unknown): unknown {
  const { code, syscall, address, port } = error as NodeJS.ErrnoException & Partial<ListenAddress>;
  if (address === undefined || port === undefined || (syscall !== 'bind' && syscall !== 'listen'))
    return error;
  return new StartFault(`${setting}: ${explain(setting, printListenAddress({ address, port }), code)}`);
}

function explain(setting: string, place: string, code: string | undefined): string {
  switch (code) {
    case 'EADDRINUSE':
      return `${place} is in use by another program; stop that one, or set ${setting} to another address`;
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
      return `this machine does not have the address of ${place}`;
    case 'EACCES':
    case 'EPERM':
      return `this user may not listen on ${place} (ports below 1024 require privileges)`;
    default:
      return `cannot listen on ${place} (${code})`;
  }
}
