// All validators that this machine has, over one space of names.

import { isInstalled } from '../peers/peers.ts';
import { startTogether } from '../tests/start-together.ts';
import { startDelv } from './delv.ts';
import { startKnotResolver } from './knot-resolver.ts';
import { startNamed } from './named.ts';
import { startUnbound, type UnboundKind } from './unbound.ts';
import type { RootSpace, ValidatingResolver, Validator } from './validator.ts';

const PROGRAMS = ['unbound', 'named', 'kresd', 'delv', 'dnssec-signzone', 'ldns-signzone', 'nsd'];
const absent = PROGRAMS.filter((program) => !isInstalled(program));
/** For a test's name. */
export const NEEDS_VALIDATORS = absent.length === 0 ? '' : ` (skipped: needs ${absent.join(', ')})`;

const UNBOUND_KINDS: readonly UnboundKind[] = ['plain', 'strict', 'aggressive', 'minimising'];

export interface Validators {
  /** They answer as resolvers do. */
  readonly resolvers: readonly Validator[];
  /** They start a process for each question. */
  readonly tools: readonly Validator[];
  forget(): Promise<void>;
  stop(): Promise<void>;
}

/** The tools ask Unbound, which gives them what it cannot validate, too (CD, RFC 4035 §3.2.2). */
export async function startValidators(space: RootSpace): Promise<Validators> {
  const resolvers = await startTogether<ValidatingResolver[]>([
    ...UNBOUND_KINDS.map((kind) => startUnbound(space, { kind, keeps: kind === 'aggressive' })),
    startNamed(space),
    startKnotResolver(space),
  ]);
  const plain = resolvers[0] as ValidatingResolver;
  const anchor = space.anchors[0] as string;
  const tools = [await startDelv([anchor], plain.port)];
  const all: Validator[] = [...resolvers, ...tools];
  return {
    resolvers,
    tools,
    async forget() {
      for (const validator of all) await validator.forget();
    },
    async stop() {
      await Promise.all(all.map((validator) => validator.stop()));
    },
  };
}
