// Imports many records: parses a zone file or Route 53 JSON into items, and imports items.

import { z } from 'zod';
import { GATES } from '../../billing/gates.ts';
import type { Name } from '../../dns/name.ts';
import { inPieces } from '../../process/in-pieces.ts';
import { type SavedEdit, saveEdit } from '../../store/change/save-edit.ts';
import type { Database } from '../../store/postgres/database.ts';
import { loadNamesInUse, loadRecordsAt } from '../../store/records/load-touched-records.ts';
import { ImportMerge } from '../../zone/import/merge-import.ts';
import { parseRecords } from '../../zone/import/parse-records.ts';
import { type ReadImport, readImport } from '../../zone/import/read-import.ts';
import { showWarnings, type ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import { explainOne } from '../actions/edit-problem.ts';
import { judgePlan } from '../actions/judge-plan.ts';
import { answerWrite, type Saved } from '../actions/save-records.ts';
import { Problem } from '../answers/problem.ts';
import { judgeItems } from '../body/body-bounds.ts';
import {
  type CondensedFailures,
  type CondensedIds,
  condenseFailures,
  condenseIds,
  expandFailures,
  expandIds,
} from '../body/condense.ts';
import { asActor, judgeNarrowing } from '../callers/caller.ts';
import { domainHead, type Route, route } from '../calls/route.ts';
import { booleanText } from '../schemas/fields.ts';
import {
  ImportResult,
  MAX_IMPORT_ITEMS,
  ParsedZoneFile,
  RecordsImport,
  ZoneFileText,
} from '../schemas/records/import.ts';
import type { Warnings } from '../schemas/records/record.ts';

const parseImport = route(domainHead('records.edit', { whileDisabled: true, writesRecords: true }), {
  method: 'POST',
  path: '/domains/{domain}/records/import/parse',
  operationId: 'parseImport',
  audit: { none: 'it writes nothing' },
  tag: 'Records',
  summary: 'Parses a zone file or Route 53 JSON into items for an import.',
  description:
    'Writes nothing. Accepts a zone file (also in the variants of Cloudflare, GoDaddy, Windows DNS, cPanel and cli53) and the JSON of `aws route53 list-resource-record-sets`. Any other JSON and a CSV file cause exactly one error. Names in a zone file are relative to the domain unless an $ORIGIN says otherwise. Names in Route 53 JSON are absolute. Lines that cannot be parsed are reported, and the others are parsed. ANAME, ALIAS and Route 53 aliases become an ANAME. A record of type SPF becomes a TXT record unless its name already has an SPF policy. Settings in the comments of an export are read.',
  writesNothing: true,
  largeBody: true,
  isHeavy: ({ zone_file }) => /\$generate/i.test(zone_file), // one line can be many records
  problems: ['plan_limit'],
  textBody: 'zone_file',
  judgesText: true,
  query: z.strictObject({
    dots: z
      .literal('add')
      .optional()
      .describe(
        '`add`: a host of two or more labels is absolute even without a final dot, and so is an owner name that ends in the name of the domain.',
      ),
  }),
  body: ZoneFileText,
  response: ParsedZoneFile,
  compresses: true,
  async run({ api, body, domain, query }) {
    const reading = parseRecords(body.zone_file, domain.name, { addDots: query.dots === 'add' });
    const parsed = await inPieces(reading);
    const warnings = await withoutKnownHosts(api.db, domain.id, parsed.warnings);
    return { ...parsed, warnings: showWarnings(warnings, domain.name) };
  },
});

/** Removes warnings about missing hosts that exist in the domain, since the file may be only a part of the zone. */
async function withoutKnownHosts(
  db: Database,
  domainId: number,
  warnings: readonly ZoneWarning[],
): Promise<ZoneWarning[]> {
  const hosts = new Set(warnings.flatMap(({ host }): Name[] => (host === undefined ? [] : [host])));
  const known = await loadNamesInUse(db, domainId, [...hosts]);
  return warnings.filter(({ host }) => host === undefined || !known.has(host));
}

const importRecords = route(domainHead('records.edit', { writesRecords: true }), {
  method: 'POST',
  path: '/domains/{domain}/records/import',
  operationId: 'importRecords',
  audit: 'changes',
  tag: 'Records',
  summary: 'Imports records, and replaces those with the same name and type.',
  description: `Items with the same name and type form a new record set. It replaces the existing records one by one: they keep their ids, their \`proxied\` state and their origin settings. Remaining existing records are removed unless an item of their set failed. TXT records are only added. Items with invalid values are listed in \`failed\`. A value of the wrong JSON type or an unknown member refuses the whole call. At most ${MAX_IMPORT_ITEMS} items.`,
  largeBody: true,
  maxItems: MAX_IMPORT_ITEMS,
  judgesText: true,
  query: z.strictObject({
    dry_run: booleanText.optional().describe('If true, everything is validated and nothing is written.'),
  }),
  body: RecordsImport,
  response: ImportResult,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  compresses: true,
  problems: ['no_active_plan', 'plan_limit', 'record_conflict', 'domain_secondary'],
  async run(call) {
    const { caller, domain } = call;
    const { records } = call.body;
    const tooMany = judgeItems(records.length, { largeBody: true, maxItems: MAX_IMPORT_ITEMS }, domain.plan);
    if (tooMany !== undefined) return tooMany;
    const read = await inPieces(readImport(records, domain.name));
    const refused = judgeNarrowing(caller.key, read.named);
    if (refused !== undefined) return refused;
    const shut = judgePlan(GATES.import, domain.plan);
    if (shut !== undefined) return shut;
    const { saved, merge } = await saveImport(call, read);
    const answered = answerWrite(call, saved, explainOne);
    if (answered instanceof Problem) return answered;
    if (merge === undefined) throw new Error('an import was saved without a merge');
    const { creates, updates, deletes } = merge.edit;
    const ids = answered.kind === 'dry_run' ? undefined : idsOf(merge, answered);
    const changeId = answered.kind === 'saved' ? answered.changeId : undefined;
    const counted: Counted = {
      created: creates.length,
      overwritten: updates.length,
      removed: deletes.length,
      changeId,
      serial: answered.kind === 'dry_run' ? domain.serial : answered.serial,
      warnings: showWarnings(answered.warnings, domain.name),
    };
    // `remake` can find items that cannot be parsed again in the body, but not conflicts with the records at this
    // time.
    const judged = inOrder(merge.failed).filter(([index]) => !read.unread.has(index));
    call.answerRest({
      ...counted,
      judged: condenseFailures(judged.map(([index, error]) => [index, storable(error)])),
      ...(ids !== undefined && { ids: condenseIds(ids) }),
    } satisfies Rest);
    return printResult({ ...counted, ids }, records, merge.failed);
  },
  async remake({ body, domain, rest }) {
    if (rest === undefined) return undefined;
    const { judged, ids, ...counted } = rest as Rest;
    const { unread } = await inPieces(readImport(body.records, domain.name));
    const failed = new Map([...unread, ...expandFailures(judged)]);
    return printResult({ ...counted, ids: ids && expandIds(ids) }, body.records, failed);
  },
});

interface Counted {
  readonly created: number;
  readonly overwritten: number;
  readonly removed: number;
  readonly changeId?: number | undefined;
  readonly serial: number;
  readonly warnings: z.input<typeof Warnings>;
}

/** Stored instead of a response that is too large. */
type Rest = Counted & {
  readonly judged: CondensedFailures;
  /** Undefined for a dry run. */
  readonly ids?: CondensedIds;
};

type ItemIds = NonNullable<z.input<typeof ImportResult>['records']>;

/** Returns the ids of the records that the items created or updated, in the order of the items. */
function idsOf({ edit }: ImportMerge, saved: Saved): ItemIds {
  const ids: ItemIds = [];
  for (const { id, index } of edit.updates) if (index !== undefined) ids.push({ index, id });
  if (saved.kind === 'saved') {
    for (const { op, after, item } of saved.ops)
      if (op === 'create' && after && item) ids.push({ index: item.index, id: after.id });
  }
  return ids.sort((a, b) => a.index - b.index);
}

const inOrder = (failed: ReadonlyMap<number, string>) => [...failed].sort(([a], [b]) => a - b);

function printResult(
  { changeId, serial, ids, warnings, ...counts }: Counted & { readonly ids?: ItemIds | undefined },
  records: z.output<typeof RecordsImport>['records'],
  failed: ReadonlyMap<number, string>,
): z.input<typeof ImportResult> {
  return {
    ...counts,
    ...(ids !== undefined && { records: ids }),
    failed: inOrder(failed).map(([index, error]) => {
      const { name, type } = records[index] as (typeof records)[number];
      return { index, name: storable(name), type: storable(type), error: storable(error) };
    }),
    ...(changeId !== undefined && { change_id: changeId }),
    serial,
    warnings,
  };
}

const MAX_QUOTED_CHARACTERS = 300;

/** Returns text that PostgreSQL can store, not longer than in the request. */
function storable(text: string): string {
  const quoted = text.length > MAX_QUOTED_CHARACTERS ? `${text.slice(0, MAX_QUOTED_CHARACTERS)}…` : text;
  return quoted.replaceAll(/[\0\p{Surrogate}]/gu, '\uFFFD');
}

type ImportCall = Parameters<typeof answerWrite>[0] & {
  readonly query: { readonly dry_run?: boolean | undefined };
};

async function saveImport(
  { api, caller, domain, query }: ImportCall,
  read: ReadImport,
): Promise<{ saved: SavedEdit; merge: ImportMerge | undefined }> {
  let merge: ImportMerge | undefined;
  const saved = await saveEdit(api.db, {
    domainId: domain.id,
    ownerId: domain.accountId,
    by: asActor(caller),
    source: 'import',
    dryRun: query.dry_run === true,
    countryOf: api.countryOf,
    originAllow: api.originAllow ?? [],
    warns: true,
    async edit({ trx }) {
      const names = new Set([domain.name]);
      for (const { name } of read.named) names.add(name);
      const records = await loadRecordsAt(trx, domain.id, [...names]);
      const held = records.filter(({ managed }) => managed !== true);
      merge = new ImportMerge(read, held);
      return { kind: 'loaded', edit: merge.edit, names: [...names], records, ids: [] };
    },
    without: (problems) => merge?.without(problems),
  });
  return { saved, merge };
}

export const IMPORT_ROUTES: readonly Route[] = [importRecords, parseImport];
