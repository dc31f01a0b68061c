import { CopyButton } from '../common/copy-button.tsx';
import { SqlLink, useDatabase } from '../common/sql-link.tsx';
import { texts } from '../texts/connector.ts';
import type { PartProps } from './health.ts';
import { nextSteps } from './next-steps.ts';

/** Shows the next steps below the verdict. */
export function NextSteps({ name, health }: PartProps) {
  const steps = nextSteps(name, health);
  if (steps.length === 0) return null;
  return (
    <ul class="next-steps" aria-label={texts.nextSteps}>
      {steps.map(({ title, address, statement }) => (
        <li key={title}>
          {address === undefined ? null : <a href={address}>{title}</a>}
          {statement === undefined ? null : <Statement name={name} title={title} statement={statement} />}
        </li>
      ))}
    </ul>
  );
}

interface StatementProps {
  readonly name: string;
  readonly title: string;
  readonly statement: string;
}

function Statement({ name, title, statement }: StatementProps) {
  return (
    <>
      {title} <code>{statement}</code> <CopyButton text={statement} />{' '}
      <SqlLink database={useDatabase(name)} statement={statement} />
    </>
  );
}
