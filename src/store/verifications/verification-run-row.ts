// Encodes the evidence and findings of a verification as JSON, in the form in which they are shown. Zone owners
// determine the amount of data, so only a limited part is stored.

import { boundedText, encodeNames } from '../../checks/delegation/evidence-json.ts';
import type { TxtEvidence, TxtServerEvidence } from '../../checks/txt/txt-evidence.ts';
import type {
  TxtJudgement,
  TxtResolverJudgement,
  TxtServerJudgement,
} from '../../checks/txt/txt-judgement.ts';
import type { Name } from '../../dns/name.ts';
import { printCharacterString } from '../../dns/record/character-string.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';

const MAX_VALUES = 8;
const MAX_VALUE_OCTETS = 255;

/** Names have the final dot. `address` is empty if none was found. */
export interface JsonTxtServer {
  readonly server: string;
  readonly address: string;
  readonly outcome: TxtServerJudgement['outcome'];
  readonly values?: readonly string[];
}

export interface JsonTxtResolver {
  readonly address: string;
  readonly outcome: TxtResolverJudgement['outcome'];
}

export function encodeTxtServers({ servers }: TxtJudgement): JsonTxtServer[] {
  return servers.map(({ server, address, outcome, values }) => ({
    server: encodeNameColumn(server),
    address,
    outcome,
    ...(values !== undefined && values.length > 0 && { values: printValues(values) }),
  }));
}

export function encodeTxtResolvers({ resolvers }: TxtJudgement): JsonTxtResolver[] {
  return resolvers.map(({ address, outcome }) => ({ address, outcome }));
}

/** Encodes the evidence for readers of the database and for the command line's JSON. */
export function encodeTxtEvidence({ links, siblings, resolvers, failure, queries }: TxtEvidence): object {
  return {
    links: links.map(({ host, zone, nameservers, delegations, servers, again }) => ({
      host: encodeNameColumn(host),
      zone: encodeNameColumn(zone),
      nameservers: encodeNames(nameservers),
      delegations: delegations.map((delegation) => ({
        zone: encodeNameColumn(delegation.zone),
        nameservers: encodeNames(delegation.nameservers),
        servers: delegation.servers.map(({ server, address, outcome, ns }) => ({
          server: encodeNameColumn(server),
          address,
          outcome,
          ns: encodeNames(ns),
        })),
      })),
      servers: servers.map(encodeServer),
      again: again.map(encodeServer),
    })),
    siblings: siblings.map(({ name, address, outcome, targets, values }) => ({
      name: encodeNameColumn(name),
      address,
      outcome,
      targets: encodeNames(targets),
      values: printValues(values),
    })),
    resolvers: resolvers.map(({ address, values, error }) => ({
      address,
      ...(values !== undefined && { values: printValues(values) }),
      ...errorMember(error),
    })),
    ...(failure !== undefined && { failure: { ...encodeZone(failure), reason: failure.reason } }),
    queries,
  };
}

function encodeServer({ server, values, target, error, ...said }: TxtServerEvidence): object {
  const { address, transport, askedAt, rttMs, outcome } = said;
  return {
    server: encodeNameColumn(server),
    address,
    transport,
    asked_at: new Date(askedAt).toISOString(),
    ...(rttMs !== undefined && { rtt_ms: rttMs }),
    outcome,
    ...(values.length > 0 && { values: printValues(values) }),
    ...(target !== undefined && { target: encodeNameColumn(target) }),
    ...errorMember(error),
  };
}

function encodeZone({ zone, message }: { readonly zone: Name; readonly message: string }) {
  return { zone: encodeNameColumn(zone), message: boundedText(message) };
}

function errorMember(error: string | undefined): { error?: string } {
  return error === undefined ? {} : { error: boundedText(error) };
}

function printValues(values: readonly Uint8Array[]): string[] {
  return values.slice(0, MAX_VALUES).map((value) => {
    const start = value.subarray(0, MAX_VALUE_OCTETS);
    return `${printValue(start)}${value.length > start.length ? '…' : ''}`;
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Prints plain text, or zone-file notation if the octets are not printable. */
function printValue(octets: Uint8Array): string {
  try {
    const text = utf8.decode(octets);
    if (!text.startsWith('"') && !/\p{C}/u.test(text)) return text;
  } catch {
    // Not UTF-8.
  }
  return printCharacterString(octets);
}
