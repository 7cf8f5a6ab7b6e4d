"""Password reset mails of a membership site."""

import os
import secrets
import smtplib
from email.message import EmailMessage

SMTP_HOST = "smtp.mail.example"
SMTP_PORT = 587
SMTP_USER = "no-reply@club.example"
SMTP_PASSWORD = os.environ["SMTP_PASSWORD"]


def reset_token():
    return secrets.token_urlsafe(32)


def reset_mail(receiver, token):
    mail = EmailMessage()
    mail["From"] = SMTP_USER
    mail["To"] = receiver
    mail["Subject"] = "Reset your password"
    mail.set_content(
        "Open this link within one hour to choose a new password:\n"
        f"https://club.example/reset/{token}\n"
    )
    return mail


def send_reset(receiver):
    """Sends the mail and returns the token that the link contains."""
    token = reset_token()
    with smtplib.SMTP(SMTP_HOST, SMTP_PORT, timeout=15) as server:
        server.starttls()
        server.login(SMTP_USER, SMTP_PASSWORD)
        server.send_message(reset_mail(receiver, token))
    return token
