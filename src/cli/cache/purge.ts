// `cache purge` and `cache refresh`. The plan of the domain is not asked; how many purges edges can take is.

import { readPurgeTarget } from '../../edge/purges/purge-target.ts';
import { orderPurge } from '../../store/purges/order-purge.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { onOneDomain } from '../domain/on-one-domain.ts';
import type { OwnerOption } from '../domain/with-owner.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';

export interface PurgeOptions extends OwnerOption {
  readonly all?: boolean;
  readonly host?: string;
  readonly url?: string;
  readonly prefix?: string;
}

const WHY = {
  often: 'it was purged too often in this minute',
  open: 'too many purges of it are not done by all edges yet: --all takes their place',
} as const;

export async function purgeCache(cli: Cli, text: string, options: PurgeOptions): Promise<void> {
  const { all = false, account, ...wish } = options;
  if (Object.keys(wish).length + Number(all) !== 1)
    throw new Failure('usage', 'say what to purge, by one of --all, --host, --url, --prefix');
  await order(cli, { text, account, wish, action: 'cache.purge' });
}

export async function refreshUrl(
  cli: Cli,
  text: string,
  url: string,
  { account }: OwnerOption,
): Promise<void> {
  await order(cli, { text, account, wish: { url }, action: 'cache.refresh' });
}

interface Order {
  readonly text: string;
  readonly account: string | undefined;
  readonly wish: Parameters<typeof readPurgeTarget>[1];
  readonly action: 'cache.purge' | 'cache.refresh';
}

async function order(cli: Cli, { text, account, wish, action }: Order): Promise<void> {
  const { output } = cli;
  await cli.withStore((db) =>
    onOneDomain(db, text, account === undefined ? {} : { account }, output, async ({ id, name }) => {
      const domain = printWithoutDot(name);
      const refuse = async (error: string) => {
        if (output.json) await output.print(JSON.stringify({ domain, outcome: 'refused', error }));
        else await output.complain(`${domain}: ${error}`);
        return 1;
      };
      const target = readPurgeTarget(domain, wish);
      if ('problem' in target) return await refuse(target.problem.error);
      const wanted =
        action === 'cache.refresh' && target.kind === 'url' ? { ...target, refresh: true as const } : target;
      const ordered = await cli.audited(db, action, async (trx, tell) => {
        const made = await orderPurge(trx, id, wanted);
        if (made.kind === 'ordered')
          tell({ domainId: id, target: { name: domain }, after: { purge: made.id, ...wish } });
        return made;
      });
      if (ordered.kind === 'limited') return await refuse(WHY[ordered.why]);
      await output.print(
        output.json
          ? JSON.stringify({ domain, outcome: 'ordered', purge: ordered.id })
          : `${domain}: purge ${ordered.id} is ordered; "zonefleet cache purges ${domain} ${ordered.id}" says how far edges are`,
      );
      return 0;
    }),
  );
}
