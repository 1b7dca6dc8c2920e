// Describes a rule: what it does, and to which requests it applies.

import { rules as text } from '../../words/rules.ts';
import type { Rule } from './match-rule.ts';

/** Returns a sentence without a full stop. */
export function summaryOf(rule: Rule): string {
  const say = text.summary[rule.type] as (rule: Rule) => string;
  return say(rule);
}

/** Returns the parts of a list. `names` has the names of records by id. */
export function scopeOf(rule: Rule, names: ReadonlyMap<number, string>): readonly string[] {
  const { scope } = text;
  const { record_ids: ids, host_match_type: hostType, path_match_type: pathType } = rule;
  const hosts = [...new Set(ids.map((id) => names.get(id) ?? scope.record(id)))];
  const isEverywhere = ids.length === 0 && hostType === '';
  const isAllPaths = pathType === 'wildcard' && rule.path_includes.includes('/*');
  return [
    ...(isEverywhere ? [scope.everywhere] : []),
    ...(hosts.length > 0 ? [scope.hosts(hosts)] : []),
    ...(hostType === '' ? [] : [scope.host[hostType](rule.host_pattern)]),
    isAllPaths ? scope.allPaths : scope.paths[pathType](rule.path_includes),
    ...(rule.path_excludes.length > 0 ? [scope.except(rule.path_excludes)] : []),
  ];
}
