import { texts } from '../texts/frame.ts';

export function SqlView() {
  return <p class="empty">{texts.loading}</p>;
}
