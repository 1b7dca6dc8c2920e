// Warnings about the planned records.

import { Note } from '../../parts/failure.tsx';
import { email as say } from '../../words/email.ts';
import type { EmailPlan, Warning } from './email-plan.ts';

interface NotesProps {
  readonly plan: EmailPlan;
  /** Undefined to show all. */
  readonly kinds?: readonly Warning['kind'][];
}

export function WarningNotes({ plan, kinds }: NotesProps) {
  const shown = plan.warnings.filter(({ kind }) => kinds === undefined || kinds.includes(kind));
  return (
    <>
      {shown.map(({ kind, text }) => (
        <Note key={kind} tone="warn">
          {say.warnings[kind](text)}
        </Note>
      ))}
    </>
  );
}
