// Prints records. The published values of a proxied record depend on the addresses of edges, which are read once per
// response, and only if needed. Those of an ANAME depend on its target. The targets of a page are read together.

import type { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import type { Database } from '../../store/postgres/database.ts';
import { loadTargetsNamed } from '../../store/records/aname-targets.ts';
import { type FlattenedTarget, flattenedTarget, printDnsContent } from '../../zone/publish/publish.ts';
import type { CustomerRecord, EdgeAddresses } from '../../zone/records/customer-record.ts';
import { isZoneFileText, printDestination } from '../../zone/records/destination.ts';
import { printOriginalName, printRecordName } from '../../zone/records/record-name.ts';
import type { ChangedRecord, Record } from '../schemas/records/record.ts';

interface Owner {
  readonly id: number;
  readonly accountId: number;
  readonly name: Name;
}

type Printed = z.input<typeof Record>;

/** Prints the record as its owner wrote it, without its published value. Members are in the order of the schema. */
export function printChangedRecord(record: CustomerRecord, apex: Name): z.input<typeof ChangedRecord> {
  const { destination, mxPriority } = printDestination(record.type, record.rdata);
  // Absent members are undefined: adding members one by one is several times slower, and lists are long.
  return {
    id: record.id,
    name: printRecordName(record.name, apex),
    original_name: printOriginalName(record.name),
    type: record.type,
    destination,
    mx_priority: mxPriority,
    ttl: record.ttl,
    proxied: record.proxied,
    captcha: record.captcha,
    scheme: record.scheme,
    port: record.port,
    host_header: record.hostHeader ?? undefined,
    monitor: record.monitor,
    dest_country: record.destCountry ?? undefined,
    timeout: record.timeout,
    comment: record.comment ?? undefined,
  };
}

type Listed = CustomerRecord & { readonly managed?: boolean };

export class RecordPrinter {
  readonly #db: Database;
  readonly #domain: Owner;
  #edges: Promise<EdgeAddresses> | undefined;

  constructor(db: Database, domain: Owner) {
    this.#db = db;
    this.#domain = domain;
  }

  async print(record: Listed): Promise<Printed> {
    const [printed] = await this.printAll([record]);
    return printed as Printed;
  }

  /** Reads the published values of all records together. */
  async printAll(records: readonly Listed[]): Promise<Printed[]> {
    const targets = new Set<Name>();
    for (const record of records) {
      const target = targetIn(record);
      if (target !== undefined) targets.add(target);
    }
    const [edges, found] = await Promise.all([
      records.some(({ proxied }) => proxied) ? this.#loadEdges() : NO_EDGES,
      targets.size > 0 ? loadTargetsNamed(this.#db, [...targets]) : NO_TARGETS,
    ]);
    return records.map((record) => this.#print(record, edges, found));
  }

  #print(record: Listed, edges: EdgeAddresses, found: Found): Printed {
    const { type, proxied } = record;
    const { id, accountId, name: apex } = this.#domain;
    const target = targetIn(record);
    const printed = printChangedRecord(record, apex);
    return {
      ...printed,
      user_id: accountId,
      domain_id: id,
      dns_content:
        !proxied && isZoneFileText(type)
          ? printed.destination
          : printDnsContent(
              record,
              proxied ? edges : NO_EDGES,
              target === undefined ? undefined : found.get(target),
            ),
      editable: record.managed !== true,
      created_at: record.createdAt,
      updated_at: record.updatedAt,
    };
  }

  #loadEdges(): Promise<EdgeAddresses> {
    this.#edges ??= loadPublishSettings(this.#db).then(({ edges }) => edges);
    return this.#edges;
  }
}

function targetIn(record: Listed): Name | undefined {
  return record.type === 'ANAME' ? flattenedTarget([record]) : undefined;
}

type Found = ReadonlyMap<Name, FlattenedTarget>;

const NO_TARGETS: Found = new Map();
const NO_EDGES: EdgeAddresses = { v4: [], v6: [] };
