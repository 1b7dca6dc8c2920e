// One rule: what it does, where it applies, and its actions.

import { Button } from '../../parts/button.tsx';
import { Badge } from '../../parts/status.tsx';
import { rules as text } from '../../words/rules.ts';
import { words } from '../../words/words.ts';
import type { Rule } from './match-rule.ts';
import { countsDryRun } from './rule-fields.ts';
import { jsonOf } from './rule-form.ts';
import { scopeOf, summaryOf } from './say-rule.ts';

interface RuleRowProps {
  readonly rule: Rule;
  readonly names: ReadonlyMap<number, string>;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly mayEdit: boolean;
  readonly mayWrite: boolean;
  readonly isBusy: boolean;
  readonly onMove: (by: -1 | 1) => void;
  readonly onToggle: (rule: Rule) => void;
  readonly onEdit: (rule: Rule) => void;
  readonly onDelete: (rule: Rule) => void;
}

export function RuleRow({ rule, names, ...rest }: RuleRowProps) {
  const { id, enabled, unsupported } = rule;
  return (
    <li class={enabled ? '' : 'off'}>
      <div class="rules-text">
        <p class="rules-summary">
          {summaryOf(rule)} {!enabled && <Badge>{text.off}</Badge>}{' '}
          {rule.action_mode === 'dry_run' && countsDryRun(rule.type) && (
            <Badge tone="warn">{text.dryRun}</Badge>
          )}
        </p>
        <ul class="plain rules-scope">
          {scopeOf(rule, names).map((part) => (
            <li key={part}>{part}</li>
          ))}
          <li>{text.rule(id)}</li>
        </ul>
        {rule.disabled_reason !== undefined && <p class="problem">{rule.disabled_reason}</p>}
        {unsupported?.map(({ why, edges }) => (
          <p key={why} class="problem">
            {text.unsupported(edges, why)}
          </p>
        ))}
        {!rest.mayEdit && (
          <details>
            <summary>{text.all}</summary>
            <pre>{jsonOf(rule)}</pre>
          </details>
        )}
      </div>
      {rest.mayEdit && <Actions rule={rule} {...rest} />}
    </li>
  );
}

function Actions({
  rule,
  isFirst,
  isLast,
  mayWrite,
  isBusy,
  ...on
}: Omit<RuleRowProps, 'names' | 'mayEdit'>) {
  const { id, enabled } = rule;
  return (
    <div class="rules-actions">
      {mayWrite && !(isFirst && isLast) && (
        <>
          <Button
            kind="bare"
            disabled={isBusy || isFirst}
            aria-label={text.upOf(id)}
            data-move={`${id} -1`}
            onClick={() => on.onMove(-1)}
          >
            ↑
          </Button>
          <Button
            kind="bare"
            disabled={isBusy || isLast}
            aria-label={text.downOf(id)}
            data-move={`${id} 1`}
            onClick={() => on.onMove(1)}
          >
            ↓
          </Button>
        </>
      )}
      {(mayWrite || enabled) && (
        <Button kind="bare" aria-label={text.toggleOf(id, enabled)} onClick={() => on.onToggle(rule)}>
          {enabled ? text.switchOff : text.switchOn}
        </Button>
      )}
      {mayWrite && (
        <Button kind="bare" aria-label={text.editOf(id)} onClick={() => on.onEdit(rule)}>
          {text.edit}
        </Button>
      )}
      <Button kind="bare" aria-label={text.deleteOf(id)} onClick={() => on.onDelete(rule)}>
        {words.common.delete}
      </Button>
    </div>
  );
}
