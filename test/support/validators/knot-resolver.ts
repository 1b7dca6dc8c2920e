// Knot Resolver as a validator on loopback. Its cache, which answers for names that were not asked (RFC 8198), is emptied
// by command. It refuses ANY, and a wildcard's NODATA at an empty non-terminal with NSEC it takes for bogus, NSD's too.

import { connect } from 'node:net';
import { join } from 'node:path';
import { startDaemon } from '../peers/daemon.ts';
import { freePort } from '../processes/free-port.ts';
import { until } from '../tests/until.ts';
import {
  answers,
  askResolver,
  BARE_WILDCARD_ROW,
  type RootSpace,
  type ValidatingResolver,
  type Verdict,
} from './validator.ts';

const ANY = 255;

export async function startKnotResolver({ anchors, reached }: RootSpace): Promise<ValidatingResolver> {
  const port = await freePort();
  const config = (directory: string) => [
    `net.listen('127.0.0.1', ${port}, { kind = 'dns' })`,
    `net.listen('${directory}/control', nil, { kind = 'control' })`,
    'net.ipv6 = false',
    "option('ALLOW_LOCAL', true)",
    `cache.open(20 * MB, 'lmdb://${directory}')`,
    'cache.min_ttl(0)',
    "trust_anchors.remove('.')",
    ...anchors.map((anchor) => `trust_anchors.add([[${anchor}]])`),
    ...['priming', 'detect_time_skew', 'ta_signal_query'].map(
      (module) => `if modules.list()['${module}'] ~= nil then modules.unload('${module}') end`,
    ),
    "modules.load('hints')",
    `hints.root({ ['a.root.'] = '${reached.root}' })`,
    '',
  ];
  const daemon = await startDaemon({
    program: 'kresd',
    isReady: () => answers(port),
    files: (directory) => ({ 'kresd.conf': config(directory).join('\n') }),
    args: (directory) => ['-n', '-c', join(directory, 'kresd.conf'), directory],
  });
  const forget = () => command(join(daemon.directory, 'control'), 'cache.clear()');
  return {
    name: 'kresd',
    port,
    judges: ({ row, type }) => type !== ANY && row !== BARE_WILDCARD_ROW,
    // One after another: version 5.6 takes some answers for bogus when it validates many of one zone at a time.
    async ask(questions) {
      const verdicts: Verdict[] = [];
      for (const question of questions) verdicts.push(...(await askResolver(port, [question])));
      return verdicts;
    },
    forget,
    stop: daemon.stop,
  };
}

/** Resolves when it has printed a result. */
async function command(socketPath: string, words: string): Promise<void> {
  const socket = connect(socketPath);
  let told = '';
  socket.on('data', (text) => (told += text.toString()));
  socket.on('error', (error) => (told = String(error)));
  socket.write(`${words}\n`);
  await until(() => told.includes('\n'), `kresd: ${words}`);
  socket.destroy();
}
