// Requests a server's cookie (RFC 7873): with it in its queries, a client is known to the server.

import { EDNS_OPTION } from '../src/dns/message/edns.ts';
import { decodeMessage } from '../src/dns/message/message.ts';
import { askMany } from '../test/support/peers/peers.ts';
import { soaQuery } from './servers/server.ts';

const CLIENT_COOKIE = '0123456789abcdef';

/** The complete option in hexadecimal, or only the client's part if the server sends none. */
export async function askCookie(port: number, apex: string): Promise<string> {
  const query = soaQuery(1, apex);
  query.writeUInt16BE(1, 10); // one additional record
  // OPT: the root, type 41, 1232 octets, no flags, and an option of 8 octets.
  const opt = Buffer.from(`00002904d000000000000c000a0008${CLIENT_COOKIE}`, 'hex');
  const [reply] = await askMany(port, [Buffer.concat([query, opt])]);
  const options = reply === undefined ? [] : (decodeMessage(reply).edns?.options ?? []);
  const cookie = options.find((option) => option.code === EDNS_OPTION.COOKIE);
  return cookie === undefined ? CLIENT_COOKIE : Buffer.from(cookie.value).toString('hex');
}
