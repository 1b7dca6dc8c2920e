// The examples of docs/operating/transfers.md, transfers-over-tls.md and catalogs.md, with the addresses, key and zones of a test.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../tests/sources.ts';

interface Values {
  /** Zones without the final dot. */
  readonly zones: readonly string[];
  /** Ports of the nodes. A secondary has one. */
  readonly nodes: readonly number[];
  readonly key: { readonly name: string; readonly algorithm: string; readonly secret: string };
  /** For examples of transfers over TLS. */
  readonly tls?: ExampleTls | undefined;
}

interface ExampleTls {
  /** Instead of 853. */
  readonly port: number;
  /** The folder of ca.pem, chain.pem and key.pem. */
  readonly directory: string;
  /** The name that a secondary requires of the node's certificate. */
  readonly name: string;
}

const LOCAL = '127.0.0.1';
const TEXT = ['transfers', 'transfers-over-tls', 'catalogs']
  .map((page) => readFileSync(join(ROOT, `docs/operating/${page}.md`), 'utf8'))
  .join('\n');

/** Returns the example with this title, with its part about a zone repeated for each zone. */
export function documented(title: string, { zones, nodes, key, tls }: Values): string {
  const [, block] = TEXT.split(`\n\`\`\`${title}\n`);
  if (block === undefined) throw new Error(`the documents have no example ${title}`);
  const text = block
    .slice(0, block.indexOf('```'))
    .replaceAll(/acme-x7k2p5\.|hidden-key\./g, key.name)
    .replaceAll('hmac-sha256', key.algorithm)
    .replaceAll(/[\w+/]{43}=/g, key.secret);
  const at = Math.max(0, text.search(/^zone\b/m));
  const parts = zones.map((zone) => text.slice(at).replaceAll(/(shop|big)\.example/g, zone));
  const example = [text.slice(0, at), ...parts].join('');
  return withNodes(tls === undefined ? example : withTls(example, tls), nodes);
}

function withTls(text: string, { port, directory, name }: ExampleTls): string {
  return text
    .replaceAll(/^ +ip-address: .*@53\n/gm, '')
    .replaceAll('192.0.2.53', LOCAL)
    .replaceAll(/\b853\b/g, `${port}`)
    .replaceAll('ns1.example.net', name)
    .replaceAll('/etc/ssl/certs/ca-certificates.crt', `${directory}/ca.pem`)
    .replaceAll('/etc/dns/', `${directory}/`);
}

/** Replaces the node of the examples. What is written for it is repeated for each node. */
function withNodes(text: string, nodes: readonly number[]): string {
  const remotes = nodes.map((port) => `zonefleet-${port}`);
  const each = (write: (port: number) => string, between = '') => nodes.map(write).join(between);
  return text
    .replaceAll(/192\.0\.2\.1 (key "[^"]*";)/g, (_, rest) =>
      each((port) => `${LOCAL} port ${port} ${rest}`, ' '),
    )
    .replaceAll(/^( +[\w-]+: )192\.0\.2\.1@53( ".*\n)/gm, (_, start, rest) =>
      each((port) => `${start}${LOCAL}@${port}${rest}`),
    )
    .replaceAll(/^ +- id: zonefleet\n.*192\.0\.2\.1@53\n(.*\n)/gm, (_, rest) =>
      each((port) => `  - id: zonefleet-${port}\n    address: ${LOCAL}@${port}\n${rest}`),
    )
    .replaceAll(
      /^( +(?:master|notify): )zonefleet\n/gm,
      nodes.length === 0 ? '' : `$1[${remotes.join(', ')}]\n`,
    )
    .replaceAll('also-notify=192.0.2.1', `also-notify=${each((port) => `${LOCAL}:${port}`, ',')}`)
    .replaceAll('192.0.2.1', LOCAL);
}
