import { texts } from '../texts/frame.ts';

export function LiveLog() {
  return <p class="empty">{texts.loading}</p>;
}
