// One zone of 10,000 names: CPU time per answer of every installed server, for plain queries, with EDNS, and with a cookie
// that the server knows.

import { askCookie } from '../ask-cookie.ts';
import type { EdnsChoice } from '../dnsperf.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import type { Chart } from '../report/chart.ts';
import { comparisonTable, cpuBars, type Limits } from '../report/comparison.ts';
import { interleave, measure } from '../rounds.ts';
import { say } from '../say.ts';
import { type Contestant, startServers, stopServers } from '../servers/all.ts';
import { warmUp } from '../warm-up.ts';
import { makeOneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';

const NAMES = 10_000;
const QUESTIONS = 200_000;

const VARIANTS = [
  { name: 'plain', title: 'without EDNS' },
  { name: 'edns', title: 'with EDNS' },
  { name: 'cookies', title: 'with EDNS and cookies' },
] as const;
type Variant = (typeof VARIANTS)[number]['name'];

const LIMITS: Record<Variant, Limits> = {
  plain: { nsd: 0.85, knot: 0.85, powerdns: 0.75, echo: 1.1 },
  edns: { nsd: 0.9, knot: 0.85, echo: 1.1 },
  cookies: { nsd: 0.85, knot: 0.85, echo: 1.15 },
};

export const answers: Part = {
  names: ['answers'],
  async run(options) {
    const zone = makeOneZone('names', NAMES);
    const queries = writeQueries(options.directory, 'answers', zone.questions(QUESTIONS, 1));
    const contestants = await startServers(options.servers, zone.set, options);
    try {
      for (const { running } of contestants) await warmUp(running, { queries }, options);
      return [await compare(contestants, queries, options)];
    } finally {
      await stopServers(contestants);
    }
  },
};

async function compare(
  contestants: readonly Contestant[],
  queries: string,
  options: BenchOptions,
): Promise<Section> {
  const blocks: string[] = [
    'One zone of 10 000 names: 60 % A, 15 % AAAA, 5 % through a CNAME, 5 % names that do not exist, 5 % wildcards, 10 % MX and ' +
      'TXT of the apex. PowerDNS answers from its caches, which a first pass through all queries has filled. Cookies are those ' +
      'that the server sent to the client before.',
  ];
  const charts: Chart[] = [];
  for (const { name, title } of VARIANTS) {
    say(`answers ${title}`);
    const edns = await chooseEdns(name, contestants);
    const runs = await interleave(contestants, options, ({ running, server }) => {
      const choice = edns.get(server.name) ?? { kind: 'none' };
      return measure(running, { queries, seconds: options.seconds, edns: choice }, options);
    });
    blocks.push(`### Queries ${title}`, comparisonTable(runs, LIMITS[name]));
    charts.push({
      name: `answers-${name}`,
      title: `CPU per query, queries ${title}`,
      unit: 'µs',
      digits: 2,
      bars: cpuBars(runs),
    });
  }
  return { part: 'answers', title: 'Answers from one zone', blocks, charts };
}

async function chooseEdns(
  variant: Variant,
  contestants: readonly Contestant[],
): Promise<Map<string, EdnsChoice>> {
  const choices = new Map<string, EdnsChoice>();
  for (const { server, running } of contestants) {
    if (variant === 'edns') choices.set(server.name, { kind: 'edns' });
    if (variant !== 'cookies') continue;
    choices.set(server.name, { kind: 'cookie', cookie: await askCookie(running.port, 'names.test.') });
  }
  return choices;
}
