// Input for the value of a record: one box, or one box per part for some types.

import { useId } from 'preact/hooks';
import { TextArea, TextField } from '../../parts/field.tsx';
import { records } from '../../words/records.ts';
import type { RowProblem } from './batch.ts';
import { problemAt } from './problem-at.ts';
import { joinDestination, type Part, partsOf, splitDestination } from './type-fields.ts';
import type { Typed } from './typed.ts';

interface BoxesProps {
  readonly typed: Typed;
  readonly problems: readonly RowProblem[];
  readonly set: (change: Partial<Typed>) => void;
}

export function DestinationBoxes({ typed, problems, set }: BoxesProps) {
  const { type, destination } = typed;
  const say = records;
  const parts = partsOf(type);
  const texts = splitDestination(type, destination);
  if (parts !== undefined && texts !== undefined) {
    return (
      <div class="rec-parts">
        {parts.map((part, i) => (
          <PartBox
            key={`${type} ${part.key}`}
            part={part}
            type={type}
            text={texts[i] ?? ''}
            problem={
              problemAt(problems, part.key) ??
              (i === parts.length - 1 ? problemAt(problems, undefined) : undefined)
            }
            onText={(text) =>
              set({
                destination: joinDestination(
                  type,
                  texts.map((old, j) => (j === i ? text : old)),
                ),
              })
            }
          />
        ))}
      </div>
    );
  }
  const common = {
    label: say.destinations[type as keyof typeof say.destinations] ?? say.fields.destination,
    hint: say.destinationHints[type as keyof typeof say.destinationHints],
    problem: problems.find(({ field }) => field === 'destination')?.message,
    value: destination,
    spellcheck: false,
    autocomplete: 'off',
  };
  return (
    <>
      {type === 'MX' && (
        <div class="rec-box-short">
          <TextField
            label={say.fields.mx_priority}
            hint={say.priorityHint}
            inputMode="numeric"
            placeholder="10"
            value={typed.mx_priority}
            problem={problems.find(({ field }) => field === 'mx_priority')?.message}
            onInput={(event) => set({ mx_priority: event.currentTarget.value })}
          />
        </div>
      )}
      <div class="rec-box-destination">
        {type === 'TXT' ? (
          <TextArea
            {...common}
            rows={3}
            onInput={(event) => set({ destination: event.currentTarget.value })}
          />
        ) : (
          <TextField {...common} onInput={(event) => set({ destination: event.currentTarget.value })} />
        )}
      </div>
    </>
  );
}

interface PartProps {
  readonly part: Part;
  readonly type: string;
  readonly text: string;
  readonly problem: string | undefined;
  readonly onText: (text: string) => void;
}

/** Label of a part such as `SRV.port`. */
export function partLabel(part: string): string {
  const parts: PartWords = records.parts;
  return parts[part] ?? parts[part.slice(part.indexOf('.') + 1)] ?? part;
}

type PartWords = Readonly<Record<string, string | undefined>>;

function PartBox({ part, type, text, problem, onText }: PartProps) {
  const id = useId();
  const { partHints, choices } = records;
  const hint = (partHints as PartWords)[`${type}.${part.key}`];
  const meaning = (value: string) => (choices as PartWords)[`${type}.${part.key}.${value}`];
  return (
    <div class={`rec-part ${part.kind}`}>
      <TextField
        label={partLabel(`${type}.${part.key}`)}
        hint={meaning(text) ?? hint}
        problem={problem}
        autocomplete="off"
        spellcheck={false}
        list={part.choices === undefined ? undefined : id}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {part.choices !== undefined && (
        <datalist id={id}>
          {part.choices.map((value) => (
            <option key={value} value={value}>
              {meaning(value) ?? value}
            </option>
          ))}
        </datalist>
      )}
    </div>
  );
}
