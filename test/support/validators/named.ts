// BIND's named as a validating resolver on loopback.

import { join } from 'node:path';
import { freePort } from '../peers/peers.ts';
import { startDaemon } from './daemon.ts';
import { askResolver, type Space, type ValidatingResolver } from './validator.ts';

/** `keeps: false`: nothing is taken from a cache; else its NSEC records answer for names that were not asked (RFC 8198). */
export async function startNamed(
  space: Space,
  { keeps = true }: { readonly keeps?: boolean } = {},
): Promise<ValidatingResolver> {
  const port = await freePort();
  const config = (directory: string) => `
options {
  directory "${directory}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none; lock-file none; session-keyfile none;
  recursion yes;
  dnssec-validation yes;
  empty-zones-enable no;
  servfail-ttl 0;
  ${keeps ? '' : 'max-cache-ttl 0; max-ncache-ttl 0; synth-from-dnssec no;'}
};
controls {};
${bindAnchors(space.anchors)}
${'root' in space.reached ? 'zone "." { type hint; file "root.hints"; };' : space.reached.stubs.map(forwardZone).join('\n')}
`;
  const daemon = await startDaemon({
    program: 'named',
    port,
    files: (directory) => ({
      'named.conf': config(directory),
      ...('root' in space.reached && {
        'root.hints': `. 3600000 NS a.root.\na.root. 3600000 A ${space.reached.root}\n`,
      }),
    }),
    args: (directory) => ['-g', '-n', '1', '-c', join(directory, 'named.conf')],
  });
  return {
    name: keeps ? 'named (keeps)' : 'named',
    port,
    ask: (questions) => askResolver(port, questions),
    async forget() {},
    stop: daemon.stop,
  };
}

function forwardZone({
  zone,
  address = '127.0.0.1',
  port,
}: {
  zone: string;
  address?: string;
  port: number;
}) {
  return `zone "${zone}" { type forward; forward only; forwarders { ${address} port ${port}; }; };`;
}

/** DS records as in a zone file, in the form of BIND's configuration. */
export function bindAnchors(anchors: readonly string[]): string {
  const lines = anchors.map((anchor) => {
    const [owner, , , tag, algorithm, type, ...digest] = anchor.split(/\s+/);
    return `  "${owner}" static-ds ${tag} ${algorithm} ${type} "${digest.join('')}";`;
  });
  return `trust-anchors {\n${lines.join('\n')}\n};`;
}
