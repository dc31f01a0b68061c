import { useEffect, useRef, useState } from 'preact/hooks';
import type { SqlFailure } from '../common/answers.ts';
import { worker } from '../common/fleet-store.ts';
import { SQL_ADDRESS } from '../common/addresses.ts';
import { hints } from '../common/route.ts';
import { setUnfinished } from '../common/unfinished.ts';
import { Button } from '../kit/button.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { texts } from '../texts/data.ts';
import { placeOf } from './result-text.ts';
import { isFailure, run, type Session, type SqlResult } from './sql-api.ts';
import { SqlEditor } from './sql-editor.tsx';
import { SqlResultView } from './sql-result.tsx';
import { loadTables, type SqlTable } from './sql-schema.ts';
import { SqlTables } from './sql-tables.tsx';
import { statementsIn, type Statement } from './statements.ts';

const EXPIRED = 401;
const MAX_HISTORY = 50;
const MAX_TITLE = 80;

interface SqlBoxProps {
  readonly session: Session;
  readonly leave: (reason: string) => void;
}

interface Outcome {
  readonly statement: Statement;
  readonly result?: SqlResult;
  readonly failure?: SqlFailure;
}

/**
 * The typed statements. They stay in the memory of the page when the session ends or the user leaves the view. They are
 * stored nowhere else, because they may contain secrets. `ran`: the last text whose statements all succeeded;
 * `history`: statements that have run, the latest first.
 */
const kept: { sql: string; database: string; ran: string; history: readonly string[] } = {
  sql: '',
  database: '',
  ran: '',
  history: [],
};

function keep(next: Partial<typeof kept>): void {
  Object.assign(kept, next);
  const isUnfinished = kept.sql.trim() !== '' && kept.sql !== kept.ran;
  setUnfinished({ address: SQL_ADDRESS, title: texts.statementOfSql }, isUnfinished);
}

/** Shows the statements and their results, and next to them the tables of the database. */
export function SqlBox({ session, leave }: SqlBoxProps) {
  const [sql, setSql] = useState(() => hints.value['statement'] ?? kept.sql);
  const [database, setDatabase] = useState(() => hints.value['database'] ?? kept.database);
  const { outcomes, fault, said, isRunning, start, stop } = useStatements(session, leave);
  const tables = useTables(session, database.trim());
  useEffect(() => {
    keep({ sql, database });
  }, [sql, database]);
  const runIt = (): Promise<void> => start(sql, database.trim());
  const insert = (text: string): void => setSql(sql.trim() === '' ? text : `${sql.trimEnd()}\n${text}`);
  return (
    <>
      <div class="filters">
        <TextField
          label={texts.database}
          title={texts.databaseHint}
          placeholder={texts.defaultDatabase}
          value={database}
          onInput={setDatabase}
        />
        {kept.history.length === 0 ? null : (
          <SelectField
            label={texts.history}
            value=""
            none={texts.chooseStatement}
            options={kept.history}
            text={(each) => each.replace(/\s+/g, ' ').slice(0, MAX_TITLE)}
            onChange={insert}
          />
        )}
        <span class="quiet session">
          {texts.loggedIn(session.user)} <Button onClick={() => leave('')}>{texts.logOut}</Button>
        </span>
      </div>
      <div class="sql-box">
        <div class="sql-main">
          <SqlEditor
            label={texts.statement}
            text={sql}
            tables={tables}
            fault={fault}
            change={setSql}
            run={() => void runIt()}
          />
          <div class="bulk sql-actions">
            <Button class="primary" disabled={isRunning || sql.trim() === ''} onClick={runIt}>
              {texts.run}
            </Button>
            {isRunning ? <Button onClick={stop}>{texts.stop}</Button> : null}
            <span class="quiet" role="status">
              {said}
            </span>
            <span class="quiet hint">{worker.value?.readOnly === true ? texts.readsOnly : texts.runHint}</span>
          </div>
          {outcomes.map((outcome, index) => (
            <OutcomeView key={index} text={sql} outcome={outcome} isOne={outcomes.length === 1} />
          ))}
        </div>
        <SqlTables tables={tables} insert={insert} />
      </div>
    </>
  );
}

function useTables(session: Session, database: string): readonly SqlTable[] {
  const [tables, setTables] = useState<readonly SqlTable[]>([]);
  useEffect(() => {
    const ended = new AbortController();
    loadTables(session, database, ended.signal).then(setTables, () => setTables([]));
    return () => ended.abort();
  }, [session, database]);
  return tables;
}

interface Run {
  readonly outcomes: readonly Outcome[];
  /** The position of the last error in the text; `index` counts UTF-16 code units. */
  readonly fault: { readonly index: number } | undefined;
  /** A status text: the last statement is running, was cancelled, or returned this number of rows. */
  readonly said: string;
  readonly isRunning: boolean;
  readonly start: (text: string, database: string) => Promise<void>;
  readonly stop: () => void;
}

/** Runs the statements of a text one after another until one fails. When the user leaves the view, a running statement is cancelled. */
function useStatements(session: Session, leave: (reason: string) => void): Run {
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [fault, setFault] = useState<Run['fault']>();
  const [said, setSaid] = useState('');
  const running = useRef<AbortController | undefined>(undefined);
  const stop = (): void => running.current?.abort();
  useEffect(() => stop, []);

  /** Shows the result of a statement. Returns whether the next statement may run. */
  const show = (statement: Statement, answer: SqlResult | SqlFailure, before: readonly Outcome[]): boolean => {
    if (!isFailure(answer)) {
      const history = [statement.sql, ...kept.history.filter((each) => each !== statement.sql)];
      keep({ history: history.slice(0, MAX_HISTORY) });
      setOutcomes([...before, { statement, result: answer }]);
      setSaid(answer.columns.length === 0 ? texts.done(answer.ms) : texts.rowCount(answer.rows.length, answer.ms));
      return true;
    }
    if (answer.status === EXPIRED) {
      leave(texts.sessionEnded);
      return false;
    }
    setOutcomes([...before, { statement, failure: answer }]);
    setSaid('');
    if (answer.position !== undefined)
      setFault({ index: statement.from + placeOf(statement.sql, answer.position).index });
    return false;
  };
  const start = async (text: string, database: string): Promise<void> => {
    const statements = statementsIn(text);
    if (running.current !== undefined || statements.length === 0) return;
    const { signal } = (running.current = new AbortController());
    setFault(undefined);
    setOutcomes([]);
    const before: Outcome[] = [];
    try {
      for (const [index, statement] of statements.entries()) {
        setSaid(statements.length === 1 ? texts.running : texts.runningOf(index + 1, statements.length));
        const answer = await run(session, statement.sql, database, signal);
        if (!show(statement, answer, before)) break;
        if (!isFailure(answer)) before.push({ statement, result: answer });
        if (index === statements.length - 1) keep({ ran: text });
      }
    } catch (error) {
      setOutcomes(before);
      setSaid(signal.aborted ? texts.cancelled : (error as Error).message);
    }
    running.current = undefined;
  };
  return { outcomes, fault, said, isRunning: said.startsWith(texts.runningPrefix), start, stop };
}

interface OutcomeViewProps {
  readonly text: string;
  readonly outcome: Outcome;
  readonly isOne: boolean;
}

function OutcomeView({ text, outcome: { statement, result, failure }, isOne }: OutcomeViewProps) {
  return (
    <>
      {isOne ? null : <pre class="sql-statement">{statement.sql.slice(0, MAX_TITLE * 5)}</pre>}
      {failure === undefined ? null : <Failure text={text} statement={statement} failure={failure} />}
      {result === undefined ? null : result.columns.length === 0 ? (
        isOne ? null : (
          <p class="quiet">{texts.done(result.ms)}</p>
        )
      ) : (
        <SqlResultView result={result} />
      )}
    </>
  );
}

interface FailureProps {
  readonly text: string;
  readonly statement: Statement;
  readonly failure: SqlFailure;
}

function Failure({ text, statement: { sql, from }, failure }: FailureProps) {
  const { message, sqlstate, position } = failure;
  const before = [...text.slice(0, from)].length;
  const place = position === undefined ? undefined : placeOf(text.slice(0, from) + sql, before + position);
  return (
    <div role="alert" class="sql-failure">
      <p class="problem">{message.replace(/^pq: /, '')}</p>
      <p class="quiet">
        {[
          ...(sqlstate === undefined ? [] : [texts.sqlState(sqlstate)]),
          ...(place === undefined ? [] : [texts.atLine(place.line, place.column)]),
        ].join(' · ')}
      </p>
    </div>
  );
}
