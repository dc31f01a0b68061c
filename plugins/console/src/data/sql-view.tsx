import { useEffect, useState } from 'preact/hooks';
import type { SqlAvailable } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { Problem } from '../common/problem.tsx';
import { texts } from '../texts/data.ts';
import './data.css';
import { isFailure, logIn, logOut, type Session } from './sql-api.ts';
import { SqlBox } from './sql-box.tsx';

/** Statements for the database, where its HTTP API is a service of this worker. */
export function SqlView() {
  const [isAvailable, setAvailable] = useState<boolean | undefined>();
  const [session, setSession] = useState<Session | undefined>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    request<SqlAvailable>('GET', '/ui/sql').then(
      ({ available }) => {
        setAvailable(available);
      },
      (error: unknown) => {
        setProblem((error as Error).message);
      },
    );
  }, []);
  // The session must not outlive the view that has its token.
  useEffect(
    () => () => {
      if (session !== undefined) logOut(session).catch(() => undefined);
    },
    [session],
  );
  return (
    <>
      <h1>{texts.sql}</h1>
      <Problem text={problem} />
      {isAvailable === undefined && problem === '' ? <p class="empty">{texts.loading}</p> : null}
      {isAvailable === false ? <NotRunning /> : null}
      {isAvailable === true && session === undefined ? <Login enter={setSession} report={setProblem} /> : null}
      {session === undefined ? null : (
        <SqlBox
          session={session}
          leave={(reason) => {
            setSession(undefined);
            setProblem(reason);
          }}
        />
      )}
    </>
  );
}

function NotRunning() {
  return (
    <div class="empty">
      <p>{texts.sqlOff}</p>
      <p>{texts.sqlOn}</p>
      <pre class="properties" tabIndex={0}>
        {texts.sqlProperties}
      </pre>
      <p>{texts.sqlDocs}</p>
    </div>
  );
}

interface LoginProps {
  readonly enter: (session: Session) => void;
  readonly report: (problem: string) => void;
}

function Login({ enter, report }: LoginProps) {
  const [isBusy, setBusy] = useState(false);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const fields = new FormData(form);
    setBusy(true);
    try {
      const answer = await logIn(textOf(fields.get('user')), textOf(fields.get('password')));
      if (isFailure(answer)) report(answer.message);
      else {
        report('');
        enter(answer);
      }
    } catch (error) {
      report((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <form
      class="login"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <p class="quiet">{texts.loginWhat}</p>
      <div class="filters">
        <label>
          {texts.user}
          <input name="user" type="text" autocomplete="username" required />
        </label>
        <label>
          {texts.password}
          <input name="password" type="password" autocomplete="current-password" />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          {texts.logIn}
        </button>
      </div>
    </form>
  );
}

function textOf(field: FormDataEntryValue | null): string {
  return typeof field === 'string' ? field : '';
}
