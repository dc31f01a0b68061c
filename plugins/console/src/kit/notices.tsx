import { dismiss, notices } from '../common/notices.ts';
import { texts } from '../texts/frame.ts';
import { Button } from './button.tsx';

/** Shows notices about actions of the user in a corner of the page. */
export function Notices() {
  return (
    <div class="notices" role="status">
      {notices.value.map((notice) => {
        const { text, action } = notice;
        const act = (): void => {
          dismiss(notice);
          void action?.run();
        };
        return (
          <p key={text}>
            <span>{text}</span>
            {action === undefined ? null : <Button onClick={act}>{action.title}</Button>}
            <Button aria-label={texts.dismiss} onClick={() => dismiss(notice)}>
              ✕
            </Button>
          </p>
        );
      })}
    </div>
  );
}
