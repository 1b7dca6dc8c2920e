// A node that follows a database, and what a validator has to say of its answers: names of every zone are asked for, and names
// beside.

import { decodeMessage } from '../../../src/dns/message/message.ts';
import {
  foldCase,
  isWithin,
  type Name,
  parseName,
  prependLabel,
  printName,
  ROOT,
} from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { Answerer } from '../../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { checkPublished } from '../../../src/store/housekeeping/check-published.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { decodeNameColumn } from '../../../src/store/postgres/name-column.ts';
import { ReaderSlot } from '../../../src/zone/image/image.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { ourAnswer, queryFor, UNLIMITED } from '../answer/queries.ts';
import type { AnsweringNode } from '../answer/test-node.ts';
import { signatureFaults } from '../database/signed-zones.ts';
import { type FollowingNode, follow, newWriter, untilEqual } from '../processes/follow.ts';
import { scale } from '../tests/scale.ts';
import { Bogus } from './bogus.ts';
import { judgeSignedReply } from './judge-signed-reply.ts';

const TYPES = [TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.MX, TYPE.NS, TYPE.DS, TYPE.CNAME, TYPE.SOA, TYPE.DNSKEY];
const BESIDE = ['0', 'zz', '*'];
/** Of a zone; they take turns. */
const NAMES_AT_ONCE = scale(Number.POSITIVE_INFINITY, 24);

export class JudgedNode {
  readonly #following: FollowingNode;
  readonly #answering: AnsweringNode;

  static async follow(databaseUrl: string): Promise<JudgedNode> {
    const writer = newWriter();
    const following = await follow({ databaseUrl, writer });
    const { image } = writer;
    const counters = new QueryCounters();
    const failures: unknown[] = [];
    const answerer = new Answerer(image, UNLIMITED, counters, (error) => failures.push(error));
    answerer.nowMs = Date.now();
    const reader = new ReaderSlot(image, 0);
    return new JudgedNode(following, {
      image,
      settings: UNLIMITED,
      answerer,
      reader,
      counters,
      failures,
    });
  }

  constructor(following: FollowingNode, answering: AnsweringNode) {
    this.#following = following;
    this.#answering = answering;
  }

  /** Answers that were judged. */
  judged = 0;
  #turn = 0;

  /**
   * All that is wrong with signed zones: in Postgres, by their records, and by the answers of the node, which has them all.
   * `below`: only those in this name, in presentation form.
   */
  async faults(db: Database, below = '.'): Promise<string[]> {
    await untilEqual(this.#following, db);
    const found: string[] = [];
    for (const { apex, domainId } of await signedZones(db)) {
      if (!isWithin(apex, parseName(below, ROOT))) continue;
      found.push(...(await signatureFaults(db, apex)));
      if (domainId !== null) found.push(...(await checkPublished(db, domainId)));
      const zone = this.#following.zones.get(apex) as Zone;
      const names = this.#some(namesAround(zone));
      this.judged += names.length * TYPES.length;
      found.push(...(await bogusAnswers(zone, names, (query) => ourAnswer(this.#answering, query, 'tcp'))));
    }
    return found;
  }

  #some(names: readonly Name[]): readonly Name[] {
    const step = Math.max(1, Math.ceil(names.length / NAMES_AT_ONCE));
    this.#turn++;
    return names.filter((_, i) => (i + this.#turn) % step === 0);
  }

  stop(): Promise<void> {
    return this.#following.stop();
  }
}

/** What a server answers to questions with DO, where it does not prove what it says: a line for each. */
async function bogusAnswers(
  { apex, nodes }: Zone,
  names: readonly Name[],
  ask: (query: Uint8Array) => Uint8Array | Promise<Uint8Array>,
): Promise<string[]> {
  const keys = nodes.get(apex)?.sets.get(TYPE.DNSKEY)?.rdata ?? [];
  const trusted = { apex, keys, at: Math.floor(Date.now() / 1000) };
  const found: string[] = [];
  for (const name of names) {
    for (const type of TYPES) {
      const query = queryFor({ name, type, udpPayloadSize: 1232, dnssecOk: true });
      const reply = decodeMessage(await ask(query));
      try {
        judgeSignedReply(reply, { name: foldCase(name), type }, trusted);
      } catch (error) {
        if (!(error instanceof Bogus)) throw error;
        found.push(`${printName(name)} ${typeMnemonic(type)}: ${error.message}`);
      }
    }
  }
  return found;
}

/** Those that are there, and neighbours. */
function namesAround({ nodes }: Zone): Name[] {
  const beside = (name: Name) => BESIDE.map((label) => prependLabel(label, name));
  const names = [...nodes.keys()].flatMap((name) => [name, ...beside(name)]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

async function signedZones(db: Database): Promise<{ apex: Name; domainId: number | null }[]> {
  const rows = await db
    .selectFrom('signed_zones as s')
    .leftJoin('domains as d', 'd.id', 's.domain_id')
    .innerJoin('zones as z', (join) =>
      join.on((on) =>
        on.or([on('z.id', '=', on.ref('d.zone_id')), on('z.name', '=', on.ref('s.zone_name'))]),
      ),
    )
    .select(['z.name', 'd.id as domainId'])
    .where('z.deleted_at', 'is', null)
    .where('s.phase', 'not in', ['signing', 'unsigning', 'off'])
    .execute();
  return rows.map(({ name, domainId }) => ({ apex: decodeNameColumn(name), domainId }));
}
