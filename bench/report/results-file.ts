// RESULTS.md: a section per part between markers, so that a part that runs alone replaces only its own section.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PartName, Section } from '../part.ts';
import { drawChart } from './chart.ts';

export interface Provenance {
  readonly command: string;
  readonly date: string;
  readonly machine: string;
  /** Number and duration of the runs of the medians. */
  readonly runs: string;
}

/** Writes the section and its charts to `directory`. Sections are in the order of `names`, the names of all parts. */
export function writeSection(
  directory: string,
  section: Section,
  names: readonly PartName[],
  from: Provenance,
): void {
  const file = join(directory, 'RESULTS.md');
  const sections = existsSync(file) ? readSections(readFileSync(file, 'utf8')) : new Map<PartName, string>();
  mkdirSync(join(directory, 'charts'), { recursive: true });
  for (const chart of section.charts) {
    writeFileSync(join(directory, 'charts', `${chart.name}.svg`), drawChart(chart));
  }
  const charts = section.charts.map((chart) => `![${chart.title}](charts/${chart.name}.svg)`);
  const facts = [
    `Made by \`${from.command}\` on ${from.date}; ${section.runs ?? from.runs}.`,
    '',
    `<sub>${from.machine}</sub>`,
  ].join('\n');
  sections.set(section.part, [`## ${section.title}`, facts, ...section.blocks, ...charts].join('\n\n'));
  const parts = names.filter((part) => sections.has(part));
  const body = parts.map((part) => `<!-- part ${part} -->\n${sections.get(part)}\n<!-- end ${part} -->`);
  writeFileSync(file, `${[HEAD, ...body].join('\n\n')}\n`);
}

const HEAD = `# How fast it is

Written by \`npm run bench\`: each part replaces its own section. Every server runs on one core with one thread for UDP,
dnsperf on the other core, over the loopback interface. The runs of the servers alternate, and a figure is the median of its
runs. CPU is the processor time (user and system) of all processes of a server between start and end of a run, divided by
the number of answers. Response-rate limiting is off unless a part measures it. The [README](README.md) describes how to run it.`;

function readSections(text: string): Map<PartName, string> {
  const found = text.matchAll(/<!-- part (\w+) -->\n([\s\S]*?)\n<!-- end \1 -->/g);
  return new Map([...found].map(([, part, body]) => [part as PartName, body as string]));
}
