// Reads all settings from the environment: validates each, then reports all errors together. Other variables are ignored,
// because they belong to other programs. Those that look like misspelled settings cause warnings.

import * as z from 'zod/mini';
import { parentOf, parseName, prependLabel, printName } from '../../dns/name.ts';
import { expandPattern } from '../../zone/pool/name-pattern.ts';
import { type ListenAddress, printListenAddress } from '../listen-address.ts';
import { StartFault } from '../start-fault.ts';
import { SETTINGS } from './every-setting.ts';
import { misspelledSettings } from './find-misspelled.ts';
import { OIDC_SETTINGS } from './oidc-settings.ts';
import { openSecretFiles } from './secret-files.ts';
import type { Reader, Setting } from './setting.ts';

type Values = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};
type Environment = Readonly<Record<string, string | undefined>>;

export type Settings = ReturnType<typeof readSettings>;

/** Only the settings of this reader: `npm start` passes a process only the settings that the table lists for it. */
export type SettingsOf<R extends Reader> = Omit<
  Settings,
  { [K in keyof typeof SETTINGS]: R extends ReaderOf<K> ? never : K }[keyof typeof SETTINGS]
>;
type ReaderOf<K extends keyof typeof SETTINGS> = (typeof SETTINGS)[K]['readers'][number];

export class SettingsError extends StartFault {
  override readonly name = 'SettingsError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`invalid ${faults.length === 1 ? 'setting' : 'settings'}:\n${faults.join('\n')}`);
    this.faults = faults;
  }
}

/** Opens the files of the secrets that `reader` reads, or of all if it is undefined. Throws SettingsError. */
export function readSettings(env: Environment, reader?: Reader) {
  const { edgeIpv4, edgeIpv6, soaRname, nameserverPool, nameserverAddresses, ...values } = readValues(
    env,
    reader,
  );
  const hasPool = nameserverPool.length > 0;
  const hasSets = textOf(SETTINGS.nameserverSets, env) !== undefined;
  // The default applies only if neither is set.
  const nameserverSets = hasPool && !hasSets ? [] : values.nameserverSets;
  const {
    movedAfterMs,
    movedGraceMs,
    pendingMaxMs,
    unverifiedMaxMs,
    nameserverSets: _sets,
    ...rest
  } = values;
  const publicUrl = values.publicUrl ?? loopbackUrl(values.apiListen);
  return {
    ...rest,
    publicUrl,
    publicUrlIsDefault: values.publicUrl === undefined,
    mailFrom: values.mailFrom ?? `zonefleet@${new URL(publicUrl).hostname}`,
    checkRules: { movedAfterMs, movedGraceMs, pendingMaxMs, unverifiedMaxMs },
    /**
     * Values used in answers: stored by `migrate`, and read from Postgres by all others. Names are folded text with a
     * trailing dot.
     */
    answers: {
      nameserverSets,
      nameserverPool,
      nameserverAddresses,
      edgeIpv4,
      edgeIpv6,
      soaRname: soaRname ?? mailboxFor(nameserverSets[0]?.[0] ?? firstName(nameserverPool)),
      unset: unsetAnswers(env),
    },
    /** True if the nameserver sets are the built-in examples. */
    nameserverSetsAreDefault: !hasSets && !hasPool,
    /** True if the addresses are defaults, in which case one that the machine lacks may be omitted. */
    dnsListenIsDefault: textOf(SETTINGS.dnsListen, env) === undefined,
    /** Logged once at the start. Computed only if used, because comparing all names takes milliseconds. */
    get warnings(): readonly string[] {
      const ofSets = hasPool || !hasSets ? [] : [nameserverSets.length === 1 ? ONE_SET : SHARED_SETS];
      return [...misspelledSettings(env), ...ofSets];
    },
  };
}

/** These settings replace each other's stored values: sets without a pool remove the pool. */
const OF_NAMESERVERS = ['nameserverSets', 'nameserverPool', 'nameserverAddresses', 'soaRname'] as const;
const OF_EDGES = ['edgeIpv4', 'edgeIpv6'] as const;

/** Returns the settings for answers whose stored values are kept, because the environment lacks them. */
function unsetAnswers(env: Environment) {
  const isUnset = (key: keyof typeof SETTINGS) => textOf(SETTINGS[key], env) === undefined;
  return [...(OF_NAMESERVERS.every(isUnset) ? OF_NAMESERVERS : []), ...OF_EDGES.filter(isUnset)];
}

const ONE_SET =
  'NAMESERVER_SETS has one set: a domain that is already delegated to it cannot get another one, ' +
  'so the first account that creates such a domain gets it';

const SHARED_SETS =
  'NAMESERVER_SETS without NAMESERVER_POOL: all accounts share these sets, so a delegation does not show which account owns the domain';

function readValues(given: Environment, reader: Reader | undefined): Values {
  const { env, paths, faults: fileFaults } = openSecretFiles(given, reader);
  const faults = [...fileFaults];
  const read = Object.entries(SETTINGS).map(([key, setting]: [string, Setting<unknown>]) => {
    const text = textOf(setting, env) ?? setting.byDefault;
    if (typeof text !== 'string') return [key, text.make()];
    const result = z.safeParse(setting.schema, text);
    if (!result.success) faults.push(faultOf(setting, text, result.error, paths));
    return [key, result.data];
  });
  const values = Object.fromEntries(read) as Values;
  const lacks = (setting: Setting<unknown>) => textOf(setting, env) === undefined && !paths.has(setting.name); // this process may not read the file
  if (faults.length === 0 && values.databaseReadUrl !== undefined && lacks(SETTINGS.databaseUrl)) {
    faults.push('DATABASE_READ_URL: expected DATABASE_URL to be set too: the primary of this standby');
  }
  if (faults.length === 0 && values.registration && lacks(SETTINGS.smtpUrl))
    faults.push('REGISTRATION: expected SMTP_URL to be set too: registration sends a link by mail');
  if (faults.length === 0 && lacks(SETTINGS.oidcIssuer)) faults.push(...providerFaults(env));
  if (faults.length === 0)
    faults.push(...poolFaults(values, textOf(SETTINGS.nameserverSets, env) !== undefined));
  // The process ends before it could log the warnings, and a misspelled setting may be the cause.
  if (faults.length > 0) throw new SettingsError([...faults, ...misspelledSettings(given)]);
  return values;
}

/** Returns the URL of the API on this machine. */
function loopbackUrl(listen: Values['apiListen']): string {
  const isLoopback = ({ address }: ListenAddress) => /^127\.|^::1$/.test(address);
  const { address, port } = listen.find(isLoopback) ?? {
    address: '127.0.0.1',
    port: listen[0]?.port ?? 8053,
  };
  return `http://${printListenAddress({ address, port })}`;
}

/** Returns the errors in the combination of nameserver settings. */
function poolFaults(values: Values, hasSets: boolean): string[] {
  const { nameserverPool: pool, nameserverAddresses: addresses, nameserverSets: sets } = values;
  if (pool.length === 0) {
    return addresses.length === 0
      ? []
      : ['NAMESERVER_POOL: expected to be set, because NAMESERVER_ADDRESSES is set'];
  }
  if (addresses.length !== pool.length) {
    return [
      `NAMESERVER_ADDRESSES: expected ${pool.length} lists, as many as NAMESERVER_POOL has, not ${addresses.length}`,
    ];
  }
  const names = new Set(pool.flat().flatMap((pattern) => expandPattern(pattern) ?? []));
  const both = hasSets ? sets.flat().find((name) => names.has(name)) : undefined;
  if (both === undefined) return [];
  // A static set that is also a pool combination would belong to one account and to all accounts.
  return [`NAMESERVER_SETS: expected no name of NAMESERVER_POOL, not "${both}"`];
}

/** Returns the settings of an identity provider, which need its URL. */
function providerFaults(env: Environment): string[] {
  return Object.values<Setting<unknown>>(OIDC_SETTINGS)
    .filter((setting) => !['off', undefined].includes(textOf(setting, env)))
    .map(({ name }) => `${name}: expected OIDC_ISSUER to be set too: the identity provider`);
}

/** Returns undefined if it is not set. */
function textOf({ name, mayBeEmpty = false }: Setting<unknown>, env: Environment): string | undefined {
  const text = env[name]?.trim();
  return text === '' && !mayBeEmpty ? undefined : text;
}

function faultOf(
  { name, isSecret = false }: Setting<unknown>,
  text: string,
  error: z.core.$ZodError,
  paths: ReadonlyMap<string, string>,
): string {
  const path = paths.get(name);
  const source = path === undefined ? name : `${name}_FILE: ${path}`;
  return `${source}: expected ${error.issues[0]?.message}${isSecret ? '' : `, not "${text}"`}`;
}

/** Returns the default mailbox of SOA records: `hostmaster` in the parent of the first nameserver. */
function mailboxFor(nameserver: string): string {
  const parent = parentOf(parseName(nameserver));
  return printName(prependLabel('hostmaster', parent) ?? parent);
}

function firstName(pool: readonly (readonly string[])[]): string {
  return expandPattern(pool[0]?.[0] as string)?.[0] as string;
}
