import { useEffect, useRef, useState } from 'preact/hooks';
import type { SqlFailure } from '../common/answers.ts';
import { worker } from '../common/fleet-store.ts';
import { SQL_ADDRESS } from '../common/route.ts';
import { setUnfinished } from '../common/unfinished.ts';
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

/** What was typed; it outlives the session and the view, in the memory of the page alone. `ran`: what has run last. */
const kept = { sql: '', database: '', ran: '' };

function keep(next: Partial<typeof kept>): void {
  Object.assign(kept, next);
  const isUnfinished = kept.sql.trim() !== '' && kept.sql !== kept.ran;
  setUnfinished({ address: SQL_ADDRESS, title: texts.statementOfSql }, isUnfinished);
}

/** The statement, and what has come of it. */
export function SqlBox({ session, leave }: SqlBoxProps) {
  const [sql, setSql] = useState(kept.sql);
  const [database, setDatabase] = useState(kept.database);
  const [outcome, setOutcome] = useState<Outcome | undefined>();
  const [fault, setFault] = useState<{ readonly index: number } | undefined>();
  const [said, setSaid] = useState('');
  const running = useRef<AbortController | undefined>(undefined);

  useEffect(
    () => () => {
      running.current?.abort();
    },
    [],
  );

  useEffect(() => {
    keep({ sql, database });
  }, [sql, database]);

  const start = async (): Promise<void> => {
    if (running.current !== undefined || sql.trim() === '') return;
    const stop = new AbortController();
    running.current = stop;
    setSaid(texts.running);
    setFault(undefined);
    try {
      const answer = await run(session, sql, database.trim(), stop.signal);
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
    } catch (error) {
      setOutcome(undefined);
      setSaid(stop.signal.aborted ? texts.cancelled : (error as Error).message);
    }
    running.current = undefined;
  };

  const isRunning = said === texts.running;
  return (
    <>
      <div class="filters">
        <label>
          {texts.database}
          <input
            type="text"
            value={database}
            title={texts.databaseHint}
            onInput={(event) => {
              setDatabase(event.currentTarget.value);
            }}
          />
        </label>
        <span class="quiet session">
          {texts.loggedIn(session.user)}{' '}
          <button
            type="button"
            onClick={() => {
              leave('');
            }}
          >
            {texts.logOut}
          </button>
        </span>
      </div>
      <SqlEditor label={texts.statement} text={sql} fault={fault} change={setSql} run={() => void start()} />
      <div class="bulk sql-actions">
        <button type="button" class="primary" disabled={isRunning || sql.trim() === ''} onClick={() => void start()}>
          {texts.run}
        </button>
        {isRunning ? (
          <button type="button" onClick={() => running.current?.abort()}>
            {texts.stop}
          </button>
        ) : null}
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

function Failure({
  sql,
  failure: { message, sqlstate, position },
}: {
  readonly sql: string;
  readonly failure: SqlFailure;
}) {
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
