import { useEffect, useRef, useState } from 'preact/hooks';
import type { SqlAvailable } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { connectorAt, hints } from '../common/route.ts';
import { useAction } from '../kit/action.ts';
import { Form } from '../kit/form.tsx';
import { Async, useLoaded } from '../kit/loaded.tsx';
import { Problem } from '../kit/problem.tsx';
import { texts } from '../texts/data.ts';
import './data.css';
import { isFailure, logIn, logOut, type Session } from './sql-api.ts';
import { SqlBox } from './sql-box.tsx';

/** The view that runs SQL statements, if the database's HTTP API is a service of this worker. */
export function SqlView() {
  const loaded = useLoaded('sql', () => request<SqlAvailable>('GET', '/ui/sql'));
  const [session, setSession] = useState<Session | undefined>();
  const { isBusy, problem, report, run } = useAction();
  // The session is ended when the view closes, because its token is then lost.
  useEffect(
    () => () => {
      if (session !== undefined) logOut(session).catch(() => undefined);
    },
    [session],
  );
  const leave = (reason: string): void => {
    setSession(undefined);
    report(reason);
  };
  const enter = (user: string, password: string): Promise<void> =>
    run(async () => {
      const answer = await logIn(user, password);
      if (isFailure(answer)) throw new Error(answer.message);
      setSession(answer);
    });
  return (
    <>
      <BackLink />
      <h1>{texts.sql}</h1>
      <Problem text={problem} />
      <Async of={loaded}>
        {({ available }) => {
          if (!available) return <NotRunning />;
          if (session === undefined) return <Login isBusy={isBusy} enter={enter} />;
          return <SqlBox session={session} leave={leave} />;
        }}
      </Async>
    </>
  );
}

/** A link to the connector from which a statement was opened. */
function BackLink() {
  const from = hints.value['from'] ?? '';
  const { name } = connectorAt(from) ?? {};
  return name === undefined ? null : (
    <p>
      <a href={from}>← {name}</a>
    </p>
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
  readonly isBusy: boolean;
  readonly enter: (user: string, password: string) => Promise<void>;
}

/** The inputs are uncontrolled: their values are read only on submit, so the password never enters component state. */
function Login({ isBusy, enter }: LoginProps) {
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const submit = (form: HTMLFormElement): Promise<void> => {
    const fields = new FormData(form);
    return enter(textOf(fields.get('user')), textOf(fields.get('password')));
  };
  return (
    <Form class="login" onSubmit={submit}>
      <p class="quiet">{texts.loginWhat}</p>
      <div class="filters">
        <label>
          {texts.user}
          <input ref={first} name="user" type="text" autocomplete="username" required />
        </label>
        <label>
          {texts.password}
          <input name="password" type="password" autocomplete="current-password" />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          {texts.logIn}
        </button>
      </div>
    </Form>
  );
}

function textOf(field: FormDataEntryValue | null): string {
  return typeof field === 'string' ? field : '';
}
