# A service behind a load balancer, with its alarms.
terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
    random = {
      source  = "hashicorp/random"
      version = ">= 3.5, < 4.0"
    }
  }
}

variable "name" {
  description = "Prefix of everything that is created."
  type        = string

  validation {
    condition     = length(var.name) <= 24 && can(regex("^[a-z][a-z0-9-]*$", var.name))
    error_message = "The name must be short, lower case, and start with a letter."
  }
}

locals {
  tags = merge(var.tags, {
    Service   = var.name
    ManagedBy = "terraform"
  })
  subnets = { for key, subnet in var.subnets : key => subnet.id if !subnet.public }
}

resource "aws_lb_listener_rule" "service" {
  for_each     = toset(var.hosts)
  listener_arn = data.aws_lb_listener.https.arn
  priority     = 100 + index(var.hosts, each.key)

  action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.service[each.key].arn
  }

  condition {
    host_header {
      values = ["${each.key}.${var.domain}", var.alias != null ? var.alias : "www.${var.domain}"]
    }
  }

  tags = local.tags
}

/* The policy is small enough
   to be written here. */
resource "aws_iam_role_policy" "task" {
  name   = "${var.name}-task"
  role   = aws_iam_role.task.id
  policy = <<-EOT
    {
      "Version": "2012-10-17",
      "Statement": [
        %{~for bucket in var.buckets~}
        { "Effect": "Allow", "Action": "s3:GetObject", "Resource": "${bucket.arn}/*" },
        %{~endfor~}
        { "Effect": "Deny", "Action": "s3:DeleteObject", "Resource": "*" }
      ]
    }
  EOT
}

module "alarms" {
  source  = "acme/alarms/aws"
  version = "~> 2.1"

  name       = var.name
  dimensions = { LoadBalancer = aws_lb.main.arn_suffix, TargetGroup = aws_lb_target_group.service["main"].arn_suffix }
  thresholds = [for metric in var.metrics : metric.limit * (1 + var.tolerance / 100)]
}

output "urls" {
  description = "Where the service answers."
  value       = [for host in var.hosts : format("https://%s.%s", host, var.domain)]
}
