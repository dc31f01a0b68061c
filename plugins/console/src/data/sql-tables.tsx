import { useState } from 'preact/hooks';
import { quotedName } from '../common/sql-names.ts';
import { Button } from '../kit/button.tsx';
import { TextField } from '../kit/field.tsx';
import { Fold } from '../kit/fold.tsx';
import { texts } from '../texts/data.ts';
import type { SqlTable } from './sql-schema.ts';

interface SqlTablesProps {
  readonly tables: readonly SqlTable[];
  /** Appends the text to the statements in the editor. */
  readonly insert: (text: string) => void;
}

const MAX_SHOWN = 200;

/**
 * Lists the tables of the database and their columns. Pressing a column appends its name to the statements in the
 * editor.
 */
export function SqlTables({ tables, insert }: SqlTablesProps) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const shown = tables.filter(
    ({ name, columns }) =>
      name.toLowerCase().includes(wanted) || columns.some((column) => column.name.toLowerCase().includes(wanted)),
  );
  return (
    <section class="sql-tables" aria-label={texts.tables}>
      <TextField label={texts.findTable} type="search" value={text} onInput={setText} />
      {tables.length === 0 ? <p class="quiet">{texts.noTables}</p> : null}
      {shown.slice(0, MAX_SHOWN).map(({ name, columns }) => (
        <Fold key={name} title={name} class="sql-table">
          {() => (
            <>
              <Button class="link" onClick={() => insert(`select * from ${name} limit 100`)}>
                {texts.selectFrom}
              </Button>
              <ul>
                {columns.map((column) => (
                  <li key={column.name}>
                    <Button class="link" onClick={() => insert(quotedName(column.name))}>
                      {column.name}
                    </Button>{' '}
                    <span class="quiet">{column.type}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Fold>
      ))}
      {shown.length > MAX_SHOWN ? <p class="quiet">{texts.moreTables(shown.length - MAX_SHOWN)}</p> : null}
    </section>
  );
}
