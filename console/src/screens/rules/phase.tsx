// The rules of one type, in the order in which they are applied.

import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../parts/button.tsx';
import { rules as text } from '../../words/rules.ts';
import type { Rule } from './match-rule.ts';
import type { RuleType } from './rule-fields.ts';
import { RuleRow } from './rule-row.tsx';

/** Lists longer than this are shown in part. */
const MAX_SHOWN = 30;
const SHOWN = 20;

interface PhaseProps {
  readonly type: RuleType;
  readonly rules: readonly Rule[];
  readonly names: ReadonlyMap<number, string>;
  /** Null if the plan has no limit. */
  readonly limit: number | null;
  readonly mayEdit: boolean;
  /** False if the plan does not include rules: they can only be turned off and deleted. */
  readonly mayWrite: boolean;
  readonly isBusy: boolean;
  readonly onAdd: () => void;
  readonly onMove: (rule: Rule, by: -1 | 1) => void;
  readonly onToggle: (rule: Rule) => void;
  readonly onEdit: (rule: Rule) => void;
  readonly onDelete: (rule: Rule) => void;
}

export function Phase({ type, rules, names, limit, onAdd, onMove, ...row }: PhaseProps) {
  const [isWhole, setWhole] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const moved = useRef<{ readonly id: number; readonly by: -1 | 1 }>(undefined);
  // Browsers drop the focus from a moved element, and from a disabled button, as all are while the rule moves.
  useEffect(() => {
    if (moved.current === undefined || row.isBusy) return;
    const { id, by } = moved.current;
    moved.current = undefined;
    const buttons = [by, -by].map((each) =>
      list.current?.querySelector<HTMLButtonElement>(`[data-move="${id} ${each}"]`),
    );
    buttons.find((button) => button?.disabled === false)?.focus();
  }, [rules, row.isBusy]);
  const shown = isWhole || rules.length <= MAX_SHOWN ? rules : rules.slice(0, SHOWN);
  return (
    <section class="card rules-phase" aria-labelledby={`rules-${type}`}>
      <div class="row spread">
        <h2 id={`rules-${type}`} tabIndex={-1}>
          {text.types[type]}
        </h2>
        <div class="row">
          <span class="quiet">{text.count(rules.length, limit)}</span>
          {row.mayWrite && (
            <Button kind="bare" aria-label={text.addOf(text.types[type])} onClick={onAdd}>
              {text.addOne}
            </Button>
          )}
        </div>
      </div>
      <p class="quiet">{text.about[type]}</p>
      <ol ref={list} class="plain rules-list" aria-label={text.list(text.types[type])}>
        {shown.map((rule, i) => (
          <RuleRow
            key={rule.id}
            {...row}
            rule={rule}
            names={names}
            isFirst={i === 0}
            isLast={i === rules.length - 1}
            onMove={(by) => {
              moved.current = { id: rule.id, by };
              if (i + by >= shown.length) setWhole(true);
              onMove(rule, by);
            }}
          />
        ))}
      </ol>
      {shown.length < rules.length && (
        <Button onClick={() => setWhole(true)}>{text.showAll(rules.length)}</Button>
      )}
    </section>
  );
}
