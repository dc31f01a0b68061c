import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { SourceTables } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import { short } from '../common/format.ts';
import { useAction } from '../kit/action.ts';
import { Form } from '../kit/form.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/editor.ts';
import { configBody, valueIn, type Entry } from './config-document.ts';
import { chosenTables, includeOf, type SourceTable } from './source-tables.ts';

const MODES = ['timestamp', 'incrementing', 'bulk'] as const;
type Mode = (typeof MODES)[number];

interface TablePickerProps {
  readonly entries: readonly Entry[];
  readonly tables: SourceTables | undefined;
  readonly onTables: (tables: SourceTables) => void;
  /** Sets an option; `undefined` removes it. */
  readonly change: (key: string, value: string | undefined) => void;
  /** The fields of the connection. Enter in one of them lists the tables. */
  readonly children: ComponentChildren;
}

/** Lets the user enter the connection, and choose the mode of a source and its tables from a list with their numbers of rows. */
export function TablePicker({ entries, tables, onTables, change, children }: TablePickerProps) {
  const [text, setText] = useState('');
  const { isBusy, problem, run } = useAction();
  const className = inPath(valueIn(entries, 'connector.class') ?? '');
  const load = (): Promise<void> =>
    run(async () => {
      onTables(await request<SourceTables>('PUT', `/ui/connector-plugins/${className}/tables`, configBody(entries)));
    });
  const isConnected = (valueIn(entries, 'connection.url') ?? '') !== '';
  const mode = (valueIn(entries, 'mode') ?? 'timestamp') as Mode;
  return (
    <>
      <Form class="config-form" onSubmit={load}>
        <fieldset class="topics">
          <legend>{texts.connection}</legend>
          {children}
          <div class="bulk">
            <button type="submit" disabled={!isConnected || isBusy}>
              {isBusy ? texts.loading : tables === undefined ? texts.listTables : texts.listAgain}
            </button>
            {isConnected ? null : <span class="quiet">{texts.connectFirst}</span>}
          </div>
          <Problem text={problem} />
        </fieldset>
      </Form>
      <fieldset class="topics">
        <legend>{texts.tables}</legend>
        <div class="filters">
          <SelectField
            label={texts.mode}
            value={mode}
            options={MODES}
            text={(each) => texts.modes[each]}
            onChange={(next) => change('mode', next === 'timestamp' ? undefined : next)}
          />
          {tables === undefined ? null : (
            <TextField label={texts.tableFilter} type="search" value={text} onInput={setText} />
          )}
        </div>
        {tables === undefined ? null : <TableList entries={entries} tables={tables} text={text} change={change} />}
      </fieldset>
    </>
  );
}

interface TableListProps extends Pick<TablePickerProps, 'entries' | 'change'> {
  readonly tables: SourceTables;
  readonly text: string;
}

function TableList({ entries, tables: { tables, total }, text, change }: TableListProps) {
  const chosen = chosenTables(tables, valueIn(entries, 'table.include') ?? undefined);
  const wanted = text.trim().toLowerCase();
  const choose = (name: string, isChosen: boolean): void => {
    const names = chosen.filter((each) => each !== name);
    change('table.include', includeOf(isChosen ? [...names, name] : names));
  };
  return (
    <>
      <div class="topic-list">
        {tables
          .filter(({ name }) => name.toLowerCase().includes(wanted))
          .map((table) => (
            <label key={table.name} title={table.problem ?? undefined}>
              <input
                type="checkbox"
                checked={chosen.includes(table.name)}
                onChange={({ currentTarget }) => choose(table.name, currentTarget.checked)}
              />
              <span>
                {table.name} <span class="quiet">{rowsText(table)}</span>
              </span>
            </label>
          ))}
        {tables.length === 0 ? <p class="quiet">{texts.noTables}</p> : null}
      </div>
      {total > tables.length ? <p class="quiet">{texts.moreTables(total - tables.length)}</p> : null}
    </>
  );
}

function rowsText({ rows, precision, problem }: SourceTable): string {
  if (problem !== null) return problem;
  return rows === null ? texts.rowsUnknown : texts.rowsOf(short(rows), precision);
}
