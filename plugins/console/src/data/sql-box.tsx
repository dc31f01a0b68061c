import { useEffect, useRef, useState } from 'preact/hooks';
import type { SqlFailure } from '../common/answers.ts';
import { worker } from '../common/fleet-store.ts';
import { SQL_ADDRESS } from '../common/route.ts';
import { setUnfinished } from '../common/unfinished.ts';
import { Button } from '../kit/button.tsx';
import { TextField } from '../kit/field.tsx';
import { texts } from '../texts/data.ts';
import { placeOf } from './result-text.ts';
import { isFailure, run, type Session, type SqlResult } from './sql-api.ts';
import { SqlEditor } from './sql-editor.tsx';
import { SqlResultView } from './sql-result.tsx';

const EXPIRED = 401;

interface SqlBoxProps {
  readonly session: Session;
  readonly leave: (reason: string) => void;
}

interface Outcome {
  readonly sql: string;
  readonly result?: SqlResult;
  readonly failure?: SqlFailure;
}

/** The typed statement, which is kept in the memory of the page after the session and the view end. `ran`: the last one that has run. */
const kept = { sql: '', database: '', ran: '' };

function keep(next: Partial<typeof kept>): void {
  Object.assign(kept, next);
  const isUnfinished = kept.sql.trim() !== '' && kept.sql !== kept.ran;
  setUnfinished({ address: SQL_ADDRESS, title: texts.statementOfSql }, isUnfinished);
}

/** The statement and its result. */
export function SqlBox({ session, leave }: SqlBoxProps) {
  const [sql, setSql] = useState(kept.sql);
  const [database, setDatabase] = useState(kept.database);
  const { outcome, fault, said, isRunning, start, stop } = useStatement(session, leave);
  useEffect(() => {
    keep({ sql, database });
  }, [sql, database]);
  const runIt = (): Promise<void> => start(sql, database.trim());
  return (
    <>
      <div class="filters">
        <TextField label={texts.database} title={texts.databaseHint} value={database} onInput={setDatabase} />
        <span class="quiet session">
          {texts.loggedIn(session.user)} <Button onClick={() => leave('')}>{texts.logOut}</Button>
        </span>
      </div>
      <SqlEditor label={texts.statement} text={sql} fault={fault} change={setSql} run={() => void runIt()} />
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
      {outcome?.failure === undefined ? null : <Failure sql={outcome.sql} failure={outcome.failure} />}
      {outcome?.result === undefined ? null : <SqlResultView result={outcome.result} />}
    </>
  );
}

interface Statement {
  readonly outcome: Outcome | undefined;
  /** The place of the last failure in the statement. */
  readonly fault: { readonly index: number } | undefined;
  /** The result of the last statement, or that it is running. */
  readonly said: string;
  readonly isRunning: boolean;
  readonly start: (sql: string, database: string) => Promise<void>;
  readonly stop: () => void;
}

/** Runs one statement at a time; a statement that still runs is cancelled when its view is left. */
function useStatement(session: Session, leave: (reason: string) => void): Statement {
  const [outcome, setOutcome] = useState<Outcome | undefined>();
  const [fault, setFault] = useState<Statement['fault']>();
  const [said, setSaid] = useState('');
  const running = useRef<AbortController | undefined>(undefined);
  const stop = (): void => running.current?.abort();
  useEffect(() => stop, []);

  const show = (sql: string, answer: SqlResult | SqlFailure): void => {
    if (!isFailure(answer)) {
      keep({ ran: sql });
      setOutcome({ sql, result: answer });
      setSaid(answer.columns.length === 0 ? texts.done(answer.ms) : texts.rowCount(answer.rows.length, answer.ms));
    } else if (answer.status === EXPIRED) leave(texts.sessionEnded);
    else {
      setOutcome({ sql, failure: answer });
      setSaid('');
      if (answer.position !== undefined) setFault({ index: placeOf(sql, answer.position).index });
    }
  };
  const start = async (sql: string, database: string): Promise<void> => {
    if (running.current !== undefined || sql.trim() === '') return;
    const { signal } = (running.current = new AbortController());
    setSaid(texts.running);
    setFault(undefined);
    try {
      show(sql, await run(session, sql, database, signal));
    } catch (error) {
      setOutcome(undefined);
      setSaid(signal.aborted ? texts.cancelled : (error as Error).message);
    }
    running.current = undefined;
  };
  return { outcome, fault, said, isRunning: said === texts.running, start, stop };
}

function Failure({ sql, failure }: { readonly sql: string; readonly failure: SqlFailure }) {
  const { message, sqlstate, position } = failure;
  const place = position === undefined ? undefined : placeOf(sql, position);
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
