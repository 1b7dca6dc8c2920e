// Lists warnings about records. A warning does not prevent a save.

import type { Schemas } from '../../api/client.ts';
import { Note } from '../../parts/failure.tsx';
import { imports, records } from '../../words/records.ts';

export type Warning = Schemas['Warning'];

const SHOWN = 200;

export function WarningList({ warnings }: { readonly warnings: readonly Warning[] }) {
  const say = records.warnings;
  if (warnings.length === 0) return null;
  return (
    <Note tone="warn">
      <p>
        <strong>{say.title(warnings.length)}</strong>
      </p>
      <ul>
        {warnings.slice(0, SHOWN).map(({ line, name, type, code, message }) => (
          <li key={`${line} ${name} ${type} ${code} ${message}`}>
            {line !== undefined && `${say.line(line)}: `}
            <code>
              {name} {type}
            </code>
            : {message}
          </li>
        ))}
      </ul>
      {warnings.length > SHOWN && <p>{imports.moreLines(warnings.length - SHOWN)}</p>}
    </Note>
  );
}
