// Plays a rule from API call to changed answer: created, in a dry run, enforced again, switched off.

import { expect } from 'vitest';
import type { RuleType } from '../../../src/edge/edge-rule.ts';
import type { EdgeAnswer, Visiting } from './ask-edge.ts';
import { type EdgeFleet, HOST } from './edge-fleet.ts';

export interface Shown {
  readonly visiting?: Visiting;
  readonly url?: string;
  /** What the visitor gets while the rule acts. */
  readonly changed: object;
  /** Default: an answer of `own`, as if there were no rule. */
  readonly unchanged?: object;
}

export class FlowRule {
  readonly #fleet: EdgeFleet;
  readonly #path: string;
  readonly id: number;

  private constructor(fleet: EdgeFleet, path: string, id: number) {
    this.#fleet = fleet;
    this.#path = path;
    this.id = id;
  }

  static async create(fleet: EdgeFleet, type: RuleType, fields: object): Promise<FlowRule> {
    const collection = `/rules/${type}/`;
    const { id } = await fleet.change('POST', collection, fields);
    return new FlowRule(fleet, `${collection}${id}`, id);
  }

  async update(fields: object): Promise<void> {
    await this.#fleet.change('PUT', this.#path, fields);
  }

  async toggle(): Promise<void> {
    await this.#fleet.change('PATCH', `${this.#path}/toggle`);
  }

  async delete(): Promise<void> {
    await this.#fleet.change('DELETE', this.#path);
  }
}

/** One of the first seven types: a dry run leaves the answer as it is, and is logged. Returns the rule, enforced. */
export async function showRule(
  fleet: EdgeFleet,
  type: RuleType,
  fields: object,
  { visiting, url = `http://${HOST}/page?a=1`, changed, unchanged = { json: { name: 'own' } } }: Shown,
): Promise<FlowRule> {
  const ask = (): Promise<EdgeAnswer> => fleet.visit(visiting, url);
  const seen = () => fleet.proxy.seen.at(-1);
  expect(await ask()).toMatchObject(unchanged);
  const rule = await FlowRule.create(fleet, type, fields);
  expect(await ask()).toMatchObject(changed);
  expect(seen()).toMatchObject({ rule: rule.id, would: [] });
  await rule.update({ action_mode: 'dry_run' });
  expect(await ask()).toMatchObject(unchanged);
  expect(seen()?.would).toMatchObject([{ rule: rule.id, type }]);
  expect(seen()?.rule).toBeUndefined();
  await rule.update({ action_mode: 'enforce' });
  expect(await ask()).toMatchObject(changed);
  await rule.toggle();
  expect(await ask()).toMatchObject(unchanged);
  expect(seen()?.would).toEqual([]);
  await rule.toggle();
  return rule;
}

/** One of the other five: it acts also in a dry run. Returns the rule, enforced. */
export async function showSteadyRule(
  fleet: EdgeFleet,
  type: RuleType,
  fields: object,
  { visiting, url = `http://${HOST}/page?a=1`, changed, unchanged = { json: { name: 'own' } } }: Shown,
): Promise<FlowRule> {
  const ask = (): Promise<EdgeAnswer> => fleet.visit(visiting, url);
  expect(await ask()).toMatchObject(unchanged);
  const rule = await FlowRule.create(fleet, type, fields);
  expect(await ask()).toMatchObject(changed);
  await rule.update({ action_mode: 'dry_run' });
  expect(await ask()).toMatchObject(changed);
  expect(fleet.proxy.seen.at(-1)?.would).toEqual([]);
  await rule.toggle();
  expect(await ask()).toMatchObject(unchanged);
  await rule.toggle();
  return rule;
}
