// BIND's named as a validating resolver on loopback.

import { join } from 'node:path';
import { startDaemon } from '../peers/daemon.ts';
import { freePort } from '../processes/free-port.ts';
import {
  answers,
  askResolver,
  NSEC_AT_ALIAS_ROW,
  type RootSpace,
  type ValidatingResolver,
} from './validator.ts';

/** Nothing is taken from its cache. */
export async function startNamed({ anchors, reached }: RootSpace): Promise<ValidatingResolver> {
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
  max-cache-ttl 0; max-ncache-ttl 0; synth-from-dnssec no;
};
controls {};
${bindAnchors(anchors)}
zone "." { type hint; file "root.hints"; };
`;
  const daemon = await startDaemon({
    program: 'named',
    isReady: () => answers(port),
    files: (directory) => ({
      'named.conf': config(directory),
      'root.hints': `. 3600000 NS a.root.\na.root. 3600000 A ${reached.root}\n`,
    }),
    args: (directory) => ['-g', '-n', '1', '-c', join(directory, 'named.conf')],
  });
  return {
    name: 'named',
    judges: ({ row }) => row !== NSEC_AT_ALIAS_ROW,
    port,
    ask: (questions) => askResolver(port, questions),
    async forget() {},
    stop: daemon.stop,
  };
}

/** DS records as in a zone file, in the form of BIND's configuration. */
export function bindAnchors(anchors: readonly string[]): string {
  const lines = anchors.map((anchor) => {
    const [owner, , , tag, algorithm, type, ...digest] = anchor.split(/\s+/);
    return `  "${owner}" static-ds ${tag} ${algorithm} ${type} "${digest.join('')}";`;
  });
  return `trust-anchors {\n${lines.join('\n')}\n};`;
}
