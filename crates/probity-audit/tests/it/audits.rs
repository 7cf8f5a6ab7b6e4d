//! Whole audits with a scripted model: what is asked, what is kept, who fails alone.
