// A client over UDP with this address, as text or as octets.

import { addressOctets, Client } from '../../../src/nameserver/answer/client.ts';

export function clientAt(address: string | Uint8Array): Client {
  const client = new Client();
  client.set(0, typeof address === 'string' ? addressOctets(address) : address);
  return client;
}
