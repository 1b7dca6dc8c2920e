// The shipped rules of Prometheus with shorter times, so that alerts that wait for minutes or days fire within seconds.

import { parse, stringify } from 'yaml';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/**
 * Removes `for`, and replaces the day and the hour in the thresholds of the named alerts (`3 * 86400`) by this many seconds.
 * Windows, such as `[5m]`, remain: functions over a window also have a value when it has only a few samples.
 */
export function scaleRules(text: string, unitSeconds: Readonly<Record<string, number>> = {}): string {
  const { groups } = parse(text) as RuleFile;
  return stringify({
    groups: groups.map(({ name, rules }) => ({
      name,
      rules: rules.map(({ for: _, ...rule }) => {
        const unit = unitSeconds[rule.alert ?? ''];
        return unit === undefined
          ? rule
          : { ...rule, expr: rule.expr.replaceAll(/\* (86400|3600)\b/g, `* ${unit}`) };
      }),
    })),
  });
}

/** Returns the rules of a file, in order. */
export function rulesIn(text: string): Rule[] {
  return (parse(text) as RuleFile).groups.flatMap(({ rules }) => rules);
}
