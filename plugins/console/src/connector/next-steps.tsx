import { CopyButton } from '../common/copy-button.tsx';
import { texts } from '../texts/connector.ts';
import type { PartProps } from './health.ts';
import { nextSteps } from './next-steps.ts';

/** Shows the next steps below the verdict. */
export function NextSteps({ name, health }: PartProps) {
  const steps = nextSteps(name, health);
  if (steps.length === 0) return null;
  return (
    <ul class="next-steps" aria-label={texts.nextSteps}>
      {steps.map(({ title, address, copy }) => (
        <li key={title}>
          {address === undefined ? null : <a href={address}>{title}</a>}
          {copy === undefined ? null : (
            <>
              {title} <code>{copy}</code> <CopyButton text={copy} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
