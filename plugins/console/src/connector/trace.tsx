import { CopyButton } from '../common/copy-button.tsx';
import { texts } from '../texts/connector.ts';

/** Folded; copied whole, as Connect has it. */
export function Trace({ text, task }: { readonly text: string; readonly task?: number }) {
  const [line = ''] = text.split('\n', 1);
  return (
    <details class="trace">
      <summary>
        {texts.trace}
        {task === undefined ? '' : ` (${texts.task} ${String(task)})`}: {line}
      </summary>
      <CopyButton text={text} />
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
