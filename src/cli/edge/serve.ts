// `zonefleet edge serve`: sets the regions whose edges serve a domain.

import type { Command } from 'commander';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { onOneDomain } from '../terminal/on-one-domain.ts';
import { type OwnerOption, ownerOption } from '../terminal/with-owner.ts';
import { REGION } from './read-edge-words.ts';

interface ServeOptions extends OwnerOption {
  readonly regions?: string;
  readonly all?: boolean;
}

const MOST_REGIONS = 32;

export function addServeCommand(edge: Command, cli: Cli): void {
  const command = edge
    .command('serve')
    .description('set the regions in which a domain is served; exit 1 if the domain does not exist')
    .argument('<domain>', "the domain's name")
    .option('--regions <regions>', 'comma-separated list: only the edges of these regions')
    .option('--all', 'the edges of every region');
  ownerOption(command).action((text: string, options: ServeOptions) => serveIn(cli, text, options));
}

async function serveIn(cli: Cli, text: string, { regions: words, all = false, ...options }: ServeOptions) {
  if ((words === undefined) === !all) throw new Failure('usage', 'expected --regions or --all');
  const regions =
    words === undefined ? null : [...new Set(words.split(',').map((word) => word.trim()))].sort();
  const wrong = regions?.find((region) => !REGION.test(region));
  if (wrong !== undefined || (regions?.length ?? 0) > MOST_REGIONS)
    throw new Failure(
      'usage',
      `--regions: at most ${MOST_REGIONS} names of lowercase letters, digits and hyphens`,
    );
  const { setServedRegions } = await import('../../store/edges/edge-regions.ts');
  const { listEdges } = await import('../../store/edges/edges.ts');
  const { output } = cli;
  await cli.withStore((db) =>
    onOneDomain(db, text, options, output, async ({ id }) => {
      const name = text.toLowerCase().replace(/\.$/, '');
      const isSet = await cli.audited(db, 'edge.serve', async (trx, tell) => {
        const set = await setServedRegions(trx, id, regions);
        if (set === undefined) return false;
        const target = { name };
        tell({
          domainId: id,
          target,
          before: { edge_regions: set.before },
          after: { edge_regions: regions },
        });
        return true;
      });
      if (!isSet) {
        await output.complain(`${name}: no such domain`);
        return 1;
      }
      const there = new Set(
        (await listEdges(db)).flatMap((edge) => (edge.revokedAt === null ? [edge.region] : [])),
      );
      const empty = regions?.filter((region) => !there.has(region)) ?? [];
      if (output.json) await output.print(JSON.stringify({ name, regions, without_edges: empty }));
      else {
        await output.print(`${name}: served in ${regions === null ? 'every region' : regions.join(', ')}`);
        for (const region of empty) await output.complain(`${region}: no edge is in this region`);
      }
      return 0;
    }),
  );
}
